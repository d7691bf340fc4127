// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/OrthancPicture.h"

#include "Dicom/ElementText.h"
#include "Dicom/PhotometricInterpretation.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    enum class Picture
    {
      None,
      False,  // in some releases at least
      True    // or alike in every transfer syntax
    };


    // Whether Orthanc itself decodes its frames
    bool IsDecoded(const TransferSyntax* syntax)
    {
      return syntax != nullptr && syntax->isEncapsulated &&
             syntax->codestream != CodestreamKind::Jpeg2000;
    }


    Picture GetColours(const ImageDescription& image, const TransferSyntax* syntax)
    {
      const CodestreamKind kind = syntax == nullptr ? CodestreamKind::None : syntax->codestream;

      if (GetDecoded(ParsePhotometric(image.photometricInterpretation)) != Photometric::Rgb)
      {
        const bool isLossyJpeg = kind == CodestreamKind::Jpeg && syntax->isLossy;
        return isLossyJpeg ? Picture::True : IsDecoded(syntax) ? Picture::False : Picture::None;
      }

      return kind == CodestreamKind::Rle && image.planarConfiguration == 1 ? Picture::False
                                                                           : Picture::True;
    }


    Picture GetPicture(const ImageDescription& image)
    {
      const TransferSyntax* const syntax = FindTransferSyntax(image.transferSyntax.data());
      const bool isDecoded = IsDecoded(syntax);

      if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
      {
        return Picture::None;
      }

      if (image.bitsStored == 8 && image.bitsAllocated > 8 && image.pixelRepresentation == 0)
      {
        return isDecoded ? Picture::None : Picture::False;
      }

      if (isDecoded && image.highBit + 1 != image.bitsStored)
      {
        return Picture::False;
      }

      return image.samplesPerPixel == 1 ? Picture::True : GetColours(image, syntax);
    }
  }


  std::string FindLossOfPicture(const ImageDescription& received, const ImageDescription& stored)
  {
    const Picture picture = GetPicture(stored);
    const bool isAlike =
        (received.kind == PixelDataKind::Native && stored.kind == PixelDataKind::Native) ||
        (picture == Picture::None && GetPicture(received) == Picture::None);
    const bool hasPixels =
        stored.kind == PixelDataKind::Native || stored.kind == PixelDataKind::Encapsulated;

    if (!hasPixels || isAlike || picture == Picture::True)
    {
      return "";
    }

    return picture == Picture::None
               ? "Orthanc would show no picture of it in this transfer syntax"
               : "Orthanc would show another picture of it in this transfer syntax";
  }


  std::string FindLossOfPicture(const ImageDescription& received, const std::string& target)
  {
    const bool hasPixels =
        received.kind == PixelDataKind::Native || received.kind == PixelDataKind::Encapsulated;
    ImageDescription stored = received;
    stored.transferSyntax = {};
    target.copy(stored.transferSyntax.data(), MAXIMUM_UID_LENGTH);

    if (hasPixels && IsEncapsulated(target))
    {
      stored.kind = PixelDataKind::Encapsulated;
      stored.planarConfiguration = 0;
    }
    else if (hasPixels)
    {
      stored.kind = PixelDataKind::Native;
    }

    return FindLossOfPicture(received, stored);
  }
}
