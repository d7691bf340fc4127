// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/Obstacles.h"

#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    std::string GetColours(const PixelDescription& image)
    {
      return image.photometric == Photometric::Unknown ? "an unknown Photometric Interpretation"
                                                       : ToTerm(image.photometric);
    }

    std::string FindDepthObstacle(const PixelDescription& image)
    {
      return image.bitsAllocated == 8 || image.bitsAllocated == 16
                 ? ""
                 : "DCMTK compresses 8 or 16 bits allocated, not " +
                       std::to_string(image.bitsAllocated);
    }

    std::string FindNearLosslessObstacle(const PixelDescription& image)
    {
      if (!image.IsMonochrome() && !image.IsFullColor())
      {
        return "DCMTK writes no near-lossless JPEG-LS of " + GetColours(image);
      }

      if (image.isSigned)
      {
        return "near-lossless JPEG-LS has no signed samples";
      }

      return image.bitsStored < 2 ? "JPEG-LS needs two bits at least" : "";
    }

    // DCMTK (up to 3.6.9) turns planes into pixels as if all frames were one, which mixes them up
    // (DJCodecEncoder::togglePlanarConfiguration8)
    std::string FindLossyJpegObstacle(E_TransferSyntax target, const PixelDescription& image)
    {
      if (!image.IsMonochrome() && !image.IsFullColor())
      {
        return "lossy JPEG of " + GetColours(image) + " is not defined";
      }

      if (image.isSigned)
      {
        return "lossy JPEG has no signed samples";
      }

      if (image.bitsAllocated == 8 && image.bitsStored == 8)
      {
        return "";
      }

      if (target == EXS_JPEGProcess1)
      {
        return "JPEG Baseline has 8 bits, this image has " + std::to_string(image.bitsStored);
      }

      const bool isFit = image.IsMonochrome() && image.bitsAllocated == 16 &&
                         image.bitsStored <= 12 && image.highBit + 1 == image.bitsStored;
      return isFit ? ""
                   : "JPEG Extended has 8 bits, or 12 of one sample, this image has " +
                         std::to_string(image.bitsStored);
    }

    template <typename Sample>
    bool HasBitsAbove(const std::uint8_t* pixels, std::size_t size, unsigned int bitsStored)
    {
      unsigned int all = 0;

      for (std::size_t i = 0; i + sizeof(Sample) <= size; i += sizeof(Sample))
      {
        Sample sample = 0;
        std::memcpy(&sample, pixels + i, sizeof(Sample));
        all |= sample;
      }

      return all >> bitsStored != 0;
    }

    bool IsUncompressed(E_TransferSyntax xfer)
    {
      return xfer == EXS_LittleEndianImplicit || xfer == EXS_LittleEndianExplicit ||
             xfer == EXS_DeflatedLittleEndianExplicit;
    }
  }


  bool CanDecode(E_TransferSyntax xfer)
  {
    switch (xfer)
    {
      case EXS_BigEndianExplicit:
      case EXS_JPEGProcess1:
      case EXS_JPEGProcess2_4:
      case EXS_JPEGProcess6_8:
      case EXS_JPEGProcess10_12:
      case EXS_JPEGProcess14:
      case EXS_JPEGProcess14SV1:
      case EXS_JPEGLSLossless:
      case EXS_JPEGLSLossy:
      case EXS_RLELossless:
        return true;

      default:
        return IsUncompressed(xfer);
    }
  }


  bool CanEncode(E_TransferSyntax xfer)
  {
    switch (xfer)
    {
      case EXS_JPEGProcess1:
      case EXS_JPEGProcess2_4:
      case EXS_JPEGProcess14:
      case EXS_JPEGProcess14SV1:
      case EXS_JPEGLSLossless:
      case EXS_JPEGLSLossy:
      case EXS_RLELossless:
        return true;

      default:
        return IsUncompressed(xfer);
    }
  }


  std::string FindObstacle(E_TransferSyntax target, const PixelDescription& image)
  {
    if (IsSubsampled(image.photometric))
    {
      return "DCMTK compresses no uncompressed pixels of " + GetColours(image);
    }

    if (target == EXS_RLELossless)
    {
      // 15 segments at most (DICOM PS3.5 annex G)
      const bool isFit =
          image.bitsAllocated % 8 == 0 && image.bitsAllocated / 8 * image.samplesPerPixel <= 15;
      return isFit ? "" : "RLE has whole bytes only, and 15 of them at most";
    }

    std::string obstacle = FindDepthObstacle(image);

    if (!obstacle.empty())
    {
      return obstacle;
    }

    if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
    {
      return std::to_string(image.samplesPerPixel) + " samples per pixel";
    }

    switch (target)
    {
      case EXS_JPEGProcess1:
      case EXS_JPEGProcess2_4:
        return FindLossyJpegObstacle(target, image);

      case EXS_JPEGLSLossy:
        return FindNearLosslessObstacle(image);

      default:
        return "";
    }
  }


  std::string FindLossyObstacle(const PixelDescription& image, const std::uint8_t* pixels)
  {
    if (image.highBit + 1 != image.bitsStored)
    {
      return "lossy compression would lose the bits below those that are stored";
    }

    const bool hasBitsAbove =
        image.bitsAllocated == 8
            ? HasBitsAbove<std::uint8_t>(pixels, image.GetSize(), image.bitsStored)
            : HasBitsAbove<std::uint16_t>(pixels, image.GetSize(), image.bitsStored);
    return hasBitsAbove
               ? "the image has bits above its High Bit, which lossy compression would lose"
               : "";
  }
}
