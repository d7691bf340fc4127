// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/Obstacles.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include <string>

namespace OrthancPerf
{
  namespace
  {
    std::string GetColours(const PixelDescription& image)
    {
      return image.photometric == Photometric::Unknown ? "an unknown Photometric Interpretation"
                                                       : ToTerm(image.photometric);
    }

    void CheckNearLossless(const PixelDescription& image)
    {
      if (!image.IsMonochrome() && !image.IsFullColor())
      {
        throw NotCovered("DCMTK writes no near-lossless JPEG-LS of " + GetColours(image));
      }

      if (image.isSigned)
      {
        throw NotCovered("near-lossless JPEG-LS has no signed samples");
      }

      // Of fewer, DCMTK (up to 3.6.7 at least) writes what only DCMTK reads
      if (image.bitsStored < 8)
      {
        throw NotCovered("DCMTK writes no near-lossless JPEG-LS of fewer than 8 bits");
      }
    }

    // DCMTK (up to 3.6.9) turns planes into pixels as if all frames were one, which mixes them up
    // (DJCodecEncoder::togglePlanarConfiguration8)
    void CheckLossyJpeg(const PixelDescription& image, bool isBaseline)
    {
      if (!image.IsMonochrome() && !image.IsFullColor())
      {
        throw NotCovered("lossy JPEG of " + GetColours(image) + " is not defined");
      }

      if (image.isSigned)
      {
        throw NotCovered("lossy JPEG has no signed samples");
      }

      const bool has8Bits = image.bitsAllocated == 8 && image.bitsStored == 8;
      const bool has12Bits = image.IsMonochrome() && image.bitsAllocated == 16 &&
                             image.bitsStored <= 12 && image.IsRightAligned();

      if (!has8Bits && (isBaseline || !has12Bits))
      {
        throw NotCovered(std::string(isBaseline ? "JPEG Baseline has 8 bits"
                                                : "JPEG Extended has 8 bits, or 12 of one sample") +
                         ", this image has " + std::to_string(image.bitsStored));
      }
    }

    // 15 segments at most (DICOM PS3.5 annex G)
    void CheckRle(const PixelDescription& image)
    {
      if (image.bitsAllocated % 8 != 0 || image.GetSampleSize() * image.samples > 15)
      {
        throw NotCovered("RLE has whole bytes only, and 15 of them at most");
      }
    }
  }


  bool CanDecode(const TransferSyntax* syntax) noexcept
  {
    return IsReadable(syntax) && syntax->codestream != CodestreamKind::Jpeg2000;
  }


  bool CanEncode(const TransferSyntax* syntax) noexcept
  {
    return syntax != nullptr && syntax->isWritable &&
           syntax->codestream != CodestreamKind::Jpeg2000;
  }


  void CheckImage(const TransferSyntax& target, const PixelDescription& image)
  {
    if (IsSubsampled(image.photometric))
    {
      throw NotCovered("DCMTK compresses no uncompressed pixels of " + GetColours(image));
    }

    if (target.codestream == CodestreamKind::Rle)
    {
      CheckRle(image);
      return;
    }

    if (image.bitsAllocated != 8 && image.bitsAllocated != 16)
    {
      throw NotCovered("DCMTK compresses 8 or 16 bits allocated, not " +
                       std::to_string(image.bitsAllocated));
    }

    if (image.samples != 1 && image.samples != 3)
    {
      throw NotCovered(std::to_string(image.samples) + " samples per pixel");
    }

    if (target.isLossy && target.codestream == CodestreamKind::Jpeg)
    {
      CheckLossyJpeg(image, std::string_view(target.uid) == TransferSyntaxUid::JPEG_BASELINE);
    }
    else if (target.isLossy)
    {
      CheckNearLossless(image);
    }
  }


  void CheckDimensions(const TransferSyntax& target, const PixelDescription& image)
  {
    constexpr std::size_t LARGEST_JPEG = 65500;  // JPEG_MAX_DIMENSION of the libjpeg inside DCMTK

    if (target.codestream == CodestreamKind::Jpeg &&
        (image.rows > LARGEST_JPEG || image.columns > LARGEST_JPEG))
    {
      throw NotCovered("DCMTK writes no JPEG of more than 65,500 rows or columns");
    }
  }


  void CheckStoredBits(const PixelDescription& image, const std::uint8_t* pixels)
  {
    if (!image.IsRightAligned())
    {
      throw NotCovered("lossy compression would lose the bits below those that are stored");
    }

    const std::string_view samples(reinterpret_cast<const char*>(pixels), image.GetSize());

    SampleRange range;
    range.Widen(samples, image);

    if (!range.FitsInto(SampleRange::Allowed(image)))
    {
      throw NotCovered("the image has bits above its High Bit, which lossy compression would lose");
    }
  }
}
