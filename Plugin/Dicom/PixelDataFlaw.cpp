// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PixelDataFlaw.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamEnd.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/RleFrame.h"

#include <algorithm>
#include <cstdint>
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


    // Padding makes fragments even; some encoders fill up with more, and DCMTK pads JPEG-LS with
    // what its buffer held before
    bool IsFragmentPadding(std::string_view rest)
    {
      constexpr std::string_view FILL("\0\xff", 2);
      return rest.size() <= 1 || rest.find_first_not_of(FILL) == std::string_view::npos;
    }


    void CheckCodestream(CodestreamKind kind, std::string_view frame)
    {
      // The codestream of a JP2 file
      const bool isJpeg2000 = kind == CodestreamKind::Jpeg2000;
      const std::size_t begin = isJpeg2000 ? frame.find("\xff\x4f\xff\x51") : 0;
      frame.remove_prefix(std::min(begin, frame.size()));
      const std::size_t size = isJpeg2000 ? MeasureJpeg2000(frame) : MeasureJpeg(frame);

      if (!IsFragmentPadding(frame.substr(size)))
      {
        throw CodecError("Something follows the end of a frame");
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


    std::uint64_t ReadInteger64(std::string_view bytes, std::size_t index)
    {
      std::uint64_t value = 0;

      for (std::size_t i = 8; i > 0; i--)
      {
        value = value << 8 | static_cast<std::uint8_t>(bytes[8 * index + i - 1]);
      }

      return value;
    }


    // DICOM PS3.3 section C.7.6.3.1.8: one fragment for each frame, its length with or without its
    // padding
    void CheckExtendedOffsets(const ImageDescription& image,
                              const std::vector<FrameFragments>& frames)
    {
      bool isTrue = image.extendedOffsets.size() == 8 * frames.size() &&
                    image.extendedLengths.size() == 8 * frames.size();

      for (std::size_t i = 0; i < frames.size() && isTrue; i++)
      {
        const std::size_t size = frames[i].front().size();
        const auto offset = frames[i].front().data() - frames.front().front().data();
        const std::uint64_t length = ReadInteger64(image.extendedLengths, i);
        isTrue = frames[i].size() == 1 && length <= size && length + 1 >= size &&
                 ReadInteger64(image.extendedOffsets, i) == static_cast<std::uint64_t>(offset);
      }

      if (!isTrue)
      {
        throw CodecError("The Extended Offset Table contradicts the fragments of Pixel Data");
      }
    }


    std::string Join(const FrameFragments& fragments)
    {
      std::string frame;

      for (const std::string_view fragment : fragments)
      {
        frame.append(fragment);
      }

      return frame;
    }


    void CheckFrames(const ImageDescription& image, CodestreamKind kind)
    {
      const std::vector<FrameFragments> frames =
          FindFrames(image.encapsulatedPixels, image.transferSyntax.data(), image.frames);

      if (!image.extendedOffsets.empty() || !image.extendedLengths.empty())
      {
        CheckExtendedOffsets(image, frames);
      }

      for (const FrameFragments& fragments : frames)
      {
        const std::string joined = fragments.size() > 1 ? Join(fragments) : std::string();
        const std::string_view frame = fragments.size() > 1 ? joined : fragments.front();

        if (kind == CodestreamKind::Rle)
        {
          CheckRleFrame(image, frame);
        }
        else
        {
          CheckCodestream(kind, frame);
        }
      }
    }
  }


  std::string FindPixelDataFlaw(const ImageDescription& image)
  {
    if ((image.kind == PixelDataKind::Encapsulated) != IsEncapsulated(image.transferSyntax.data()))
    {
      return "Pixel Data is not what its transfer syntax says";
    }

    if (image.hasRepeatedElements)
    {
      return "an element that describes the image, or Pixel Data, comes twice";
    }

    if (!image.hasLegalFrames)
    {
      return "Number of Frames is zero, or can't be read";
    }

    if (!image.GetNativeSize().has_value())
    {
      return "Rows, Columns, Samples per Pixel or Bits Allocated is missing, zero or too large";
    }

    if (image.kind == PixelDataKind::Native)
    {
      return FindSizeFlaw(image);
    }

    const CodestreamKind kind = GetCodestreamKind(image.transferSyntax.data());

    try
    {
      if (kind != CodestreamKind::None)
      {
        CheckFrames(image, kind);
      }
    }
    catch (const CodecError& error)
    {
      return error.what();
    }

    return "";
  }


  bool IsPixelPadding(std::string_view rest, std::size_t frameSize) noexcept
  {
    return rest.empty() || (rest.size() == 1 && (frameSize > 1 || rest.front() == '\0')) ||
           (rest.size() < frameSize && rest.find_first_not_of('\0') == std::string_view::npos);
  }
}
