// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/RasterFrame.h"

#include "Dicom/CodecError.h"
#include "Dicom/PhotometricInterpretation.h"

namespace OrthancPerf
{
  std::vector<RasterFrame> FindRasterFrames(const ImageDescription& image)
  {
    RasterFrame frame;
    frame.pixels = reinterpret_cast<const std::uint8_t*>(image.pixelData.data());
    frame.rows = image.rows;
    frame.columns = image.columns;
    frame.samples = image.samplesPerPixel;
    frame.bytesPerSample = image.bitsAllocated / 8;
    frame.isPlanar = frame.samples == 3 && image.planarConfiguration == 1;
    frame.isRgb = ParsePhotometric(image.photometricInterpretation) == Photometric::Rgb;
    const std::size_t size = frame.GetSize();

    if ((image.bitsAllocated != 8 && image.bitsAllocated != 16) ||
        (frame.samples != 1 && frame.samples != 3) || size == 0 || image.frames == 0 ||
        image.frames > image.pixelData.size() / size)
    {
      throw CodecError("Pixel Data has not the frames that are described");
    }

    std::vector<RasterFrame> frames(image.frames, frame);

    for (std::size_t i = 0; i < frames.size(); i++)
    {
      frames[i].pixels += i * size;
    }

    return frames;
  }
}
