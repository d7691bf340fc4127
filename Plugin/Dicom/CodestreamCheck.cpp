// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamCheck.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/PhotometricInterpretation.h"

namespace OrthancPerf
{
  namespace
  {
    using Colors = CodestreamHeader::Colors;

    CodestreamHeader ReadHeader(CodestreamKind kind, const FrameFragments& fragments)
    {
      if (fragments.size() == 1)
      {
        return ReadCodestreamHeader(kind, fragments.front());
      }

      std::string frame;

      for (const std::string_view fragment : fragments)
      {
        frame.append(fragment);
      }

      return ReadCodestreamHeader(kind, frame);
    }


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


    // Codecs take a label of a partial range, which is retired, for one of the full range; and RLE
    // has no samples that pixels share, whereas uncompressed pixels of that label do
    const char* FindObstacleOfLabel(CodestreamKind kind, Photometric label)
    {
      if (label == Photometric::YbrPartial422 || label == Photometric::YbrPartial420)
      {
        return "compressed, with colours of a partial range";
      }

      return kind == CodestreamKind::Rle && label == Photometric::YbrFull422
                 ? "RLE with subsampled colours is not defined"
                 : "";
    }


    bool IsSameKind(const CodestreamHeader& first, const CodestreamHeader& other)
    {
      return first.precision == other.precision && first.isSigned == other.isSigned &&
             first.isColorTransformed == other.isColorTransformed && first.colors == other.colors;
    }


    const char* FindContradictionOfFrame(const ImageDescription& image, CodestreamKind kind,
                                         const CodestreamHeader& header)
    {
      if (header.width != image.columns || header.height != image.rows ||
          header.components != image.samplesPerPixel)
      {
        return "a frame has other Rows, Columns or Samples per Pixel than its data set says";
      }

      if (image.bitsAllocated != 8 && image.bitsAllocated != 16)
      {
        return "compressed, and Bits Allocated is neither 8 nor 16";
      }

      if (header.precision > image.bitsAllocated)
      {
        return "a frame has more bits than Bits Allocated";
      }

      return MayBeLabelled(kind, header, ParsePhotometric(image.photometricInterpretation))
                 ? ""
                 : "a frame has other colours than Photometric Interpretation says";
    }


    std::string FindContradictionOfFrames(const ImageDescription& image, CodestreamKind kind)
    {
      CodestreamHeader first;
      bool isFirst = true;

      for (const FrameFragments& fragments :
           FindFrames(image.encapsulatedPixels, image.transferSyntax.data(), image.frames))
      {
        const CodestreamHeader header = ReadHeader(kind, fragments);
        std::string contradiction = FindContradictionOfFrame(image, kind, header);

        if (!contradiction.empty())
        {
          return contradiction;
        }

        if (!isFirst && !IsSameKind(first, header))
        {
          return "the frames differ in their bits or colours";
        }

        first = header;
        isFirst = false;
      }

      return "";
    }
  }


  std::string FindContradiction(const ImageDescription& image)
  {
    const CodestreamKind kind = GetCodestreamKind(image.transferSyntax.data());

    if (image.encapsulatedPixels.empty() || kind == CodestreamKind::None)
    {
      return "";
    }

    std::string obstacle =
        FindObstacleOfLabel(kind, ParsePhotometric(image.photometricInterpretation));

    if (kind == CodestreamKind::Rle || !obstacle.empty())
    {
      return obstacle;
    }

    try
    {
      return FindContradictionOfFrames(image, kind);
    }
    catch (const CodecError& error)
    {
      return error.what();
    }
    catch (const NotCovered& error)
    {
      return error.what();
    }
  }
}
