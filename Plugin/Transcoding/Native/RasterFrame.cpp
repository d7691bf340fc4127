// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/RasterFrame.h"

#include "Dicom/CodecError.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/PixelDataFlaw.h"

namespace OrthancPerf
{
  namespace
  {
    // Smaller frames, in bytes, would grow: JPEG's own headers take about a hundred
    constexpr std::size_t SMALL_FRAME = 128;
    constexpr std::size_t MANY_FRAMES = 4096;

    // Rows or columns: JPEG_MAX_DIMENSION of libjpeg, thus of Orthanc and most viewers. The
    // standard has 35 more (ITU-T T.81 table B.2).
    constexpr std::size_t LARGEST_READ = 65500;


    void CheckCoverage(const ImageDescription& image)
    {
      const Photometric photometric = ParsePhotometric(image.photometricInterpretation);
      const bool isGrey = image.samplesPerPixel == 1 && HasOneSample(photometric);
      const bool isColour = image.samplesPerPixel == 3 && (photometric == Photometric::Rgb ||
                                                           photometric == Photometric::YbrFull);

      if (image.kind == PixelDataKind::None || image.kind == PixelDataKind::Float)
      {
        throw NotCovered("No Pixel Data");
      }

      // What says nothing of its pixels is wrong, and no other kind of image
      if (!image.GetNativeSize().has_value())
      {
        throw CodecError(FindPixelDataFlaw(image));
      }

      if (image.bitsAllocated != 8 && image.bitsAllocated != 16)
      {
        throw NotCovered("Bits Allocated is neither 8 nor 16");
      }

      if (!isGrey && !isColour)
      {
        throw NotCovered("Neither one component nor RGB or YBR_FULL");
      }
    }


    void CheckPixels(const ImageDescription& image)
    {
      if (!image.HasLegalBits())
      {
        throw CodecError("Bits Stored or High Bit do not fit Bits Allocated");
      }

      const std::optional<std::size_t> size = image.GetNativeSize();

      if (size && image.pixelData.size() > *size &&
          !IsPixelPadding(image.pixelData.substr(*size), *size / image.frames))
      {
        throw NotCovered("There is more Pixel Data than the image needs");
      }

      const std::string flaw = FindPixelDataFlaw(image);

      if (!flaw.empty())
      {
        throw CodecError(flaw);
      }
    }
  }


  std::vector<RasterFrame> FindRasterFrames(const ImageDescription& image)
  {
    CheckCoverage(image);
    CheckPixels(image);

    RasterFrame frame;
    frame.pixels = reinterpret_cast<const std::uint8_t*>(image.pixelData.data());
    frame.rows = image.rows;
    frame.columns = image.columns;
    frame.samples = image.samplesPerPixel;
    frame.bytesPerSample = image.bitsAllocated / 8;
    frame.isPlanar = frame.samples == 3 && image.planarConfiguration == 1;
    frame.isRgb = ParsePhotometric(image.photometricInterpretation) == Photometric::Rgb;

    if (image.frames > MANY_FRAMES && frame.GetSize() < SMALL_FRAME)
    {
      throw NotCovered("The frames are so small that they would grow");
    }

    if (frame.rows > LARGEST_READ || frame.columns > LARGEST_READ)
    {
      throw NotCovered("More than 65,500 rows or columns, which libjpeg does not read");
    }

    std::vector<RasterFrame> frames(image.frames, frame);

    for (std::size_t i = 0; i < frames.size(); i++)
    {
      frames[i].pixels += i * frame.GetSize();
    }

    return frames;
  }
}
