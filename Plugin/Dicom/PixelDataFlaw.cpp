// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PixelDataFlaw.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/RleFrame.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    std::string FindSizeFlaw(const ImageDescription& image)
    {
      const std::size_t size = *image.GetNativeSize();
      const std::size_t frame = size / image.frames;
      const bool isRight =
          image.pixelData.size() >= size && IsPixelPadding(image.pixelData.substr(size), frame);
      return isRight ? ""
                     : "Pixel Data has " + std::to_string(image.pixelData.size()) +
                           " bytes instead of " + std::to_string(size);
    }

    using Colors = CodestreamHeader::Colors;

    // DICOM PS3.3 section C.7.6.3.1.2, PS3.5 sections 8.2.1 and 8.2.4
    bool MayBeLabelled(CodestreamKind kind, const CodestreamHeader& header, Photometric label)
    {
      const bool isYcc = label == Photometric::YbrFull || label == Photometric::YbrFull422;

      if (header.components != 3)
      {
        return header.components != 1 ||
               !(label == Photometric::Rgb || isYcc || IsOfJpeg2000(label));
      }

      if (header.colors != Colors::Unspecified)
      {
        return header.colors == Colors::Rgb ? label == Photometric::Rgb : isYcc;
      }

      // Decoders of JPEG 2000 undo the transform, and give RGB, whatever the label
      if (kind == CodestreamKind::Jpeg2000 && header.isColorTransformed)
      {
        return GetDecoded(label) == Photometric::Rgb;
      }

      return !HasOneSample(label) && !(kind == CodestreamKind::Jpeg2000 && IsOfJpeg2000(label));
    }

    bool IsSameKind(const CodestreamHeader& first, const CodestreamHeader& other)
    {
      return first.precision == other.precision && first.isSigned == other.isSigned &&
             first.isColorTransformed == other.isColorTransformed && first.colors == other.colors;
    }

    void CheckHeader(const ImageDescription& image, CodestreamKind kind,
                     const CodestreamHeader& header)
    {
      const bool isJpeg = kind == CodestreamKind::Jpeg || kind == CodestreamKind::JpegLs;
      const bool areBothSigned = header.isSigned && image.pixelRepresentation == 1;

      const std::string flaw = FindFirst(
          {{header.width != image.columns || header.height != image.rows ||
                header.components != image.samplesPerPixel,
            "a frame has other Rows, Columns or Samples per Pixel than its data set says"},

           {image.bitsAllocated != 8 && image.bitsAllocated != 16,
            "compressed, and Bits Allocated is neither 8 nor 16"},

           {header.precision > image.bitsAllocated, "a frame has more bits than Bits Allocated"},

           {header.isSigned && image.pixelRepresentation == 0,
            "a frame is signed, and its data set is not"},

           {header.precision < 2, "a frame has samples of one bit"},

           // DCMTK makes 8 bits allocated of it, or does not decode it; GDCM leaves 16
           {isJpeg && header.precision <= 8 && image.bitsAllocated != 8,
            "a frame has 8 bits or fewer, and Bits Allocated is not 8"},

           // Where the sign is, and what is white, some take from the frame, some from Bits Stored
           {header.precision < image.bitsStored && !areBothSigned,
            "a frame has fewer bits than Bits Stored"},

           {!MayBeLabelled(kind, header, ParsePhotometric(image.photometricInterpretation)),
            "a frame has other colours than Photometric Interpretation says"}});

      if (!flaw.empty())
      {
        throw CodecError(flaw);
      }
    }

    // What is shorter than a frame's header is no frame
    void CheckRleFrame(const ImageDescription& image, std::string_view frame)
    {
      constexpr std::size_t HEADER_SIZE = 64;

      if (image.bitsAllocated % 8 != 0)
      {
        throw CodecError("RLE has whole bytes only");
      }

      const RleSegments segments =
          SplitRleFrame(frame, std::size_t(image.samplesPerPixel) * (image.bitsAllocated / 8),
                        std::size_t(image.rows) * image.columns);
      const char* const end = segments.back().data() + segments.back().size();
      const std::string_view rest = frame.substr(static_cast<std::size_t>(end - frame.data()));

      if (rest.size() >= HEADER_SIZE && !IsFragmentPadding(rest))
      {
        throw CodecError("Something follows the end of a frame");
      }
    }

    void CheckFrames(const ImageDescription& image, CodestreamKind kind)
    {
      // RLE has no samples that pixels share, whereas uncompressed pixels of that label do
      if (kind == CodestreamKind::Rle &&
          IsSubsampled(ParsePhotometric(image.photometricInterpretation)))
      {
        throw CodecError("RLE with subsampled colours is not defined");
      }

      const std::vector<FrameFragments> frames =
          FindFrames(image.encapsulatedPixels, image.transferSyntax, image.frames);

      std::optional<CodestreamHeader> previous;
      std::string storage;

      for (const FrameFragments& fragments : frames)
      {
        const std::string_view frame = Join(fragments, storage);

        if (kind == CodestreamKind::Rle)
        {
          CheckRleFrame(image, frame);
          continue;
        }

        const CodestreamHeader header = ReadCodestreamHeader(kind, frame);
        CheckHeader(image, kind, header);

        if (previous.has_value() && !IsSameKind(*previous, header))
        {
          throw CodecError("the frames differ in their bits or colours");
        }

        previous = header;
      }
    }

    std::string FindFlawOfFrames(const ImageDescription& image)
    {
      const CodestreamKind kind = GetCodestreamKind(image.transferSyntax);

      try
      {
        if (kind != CodestreamKind::None)
        {
          CheckFrames(image, kind);
        }

        return "";
      }
      catch (const std::runtime_error& error)  // CodecError, NotCovered
      {
        return error.what();
      }
    }
  }

  std::string FindPixelDataFlaw(const ImageDescription& image)
  {
    const bool isEncapsulated = image.kind == PixelDataKind::Encapsulated;
    std::string flaw = FindFirst(
        {{isEncapsulated != IsEncapsulated(image.transferSyntax),
          "Pixel Data is not what its transfer syntax says"},
         {image.hasUnorderedElements, UNORDERED_ELEMENTS},
         {image.hasExtendedOffsets, "an Extended Offset Table"},
         {!image.hasLegalFrames, "Number of Frames is zero, or can't be read"},
         {!image.GetNativeSize().has_value(),
          "Rows, Columns, Samples per Pixel or Bits Allocated is missing, zero or too large"}});

    if (!flaw.empty())
    {
      return flaw;
    }

    return image.kind == PixelDataKind::Native ? FindSizeFlaw(image) : FindFlawOfFrames(image);
  }

  bool IsPixelPadding(std::string_view rest, std::size_t frameSize) noexcept
  {
    return rest.empty() || (rest.size() == 1 && (frameSize > 1 || rest.front() == '\0')) ||
           (rest.size() < frameSize && rest.find_first_not_of('\0') == std::string_view::npos);
  }
}
