// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameFormat.h"

#include "Dicom/CodecError.h"

namespace OrthancPerf
{
  FrameFormat FrameFormat::Of(const ImageDescription& image)
  {
    if (image.bitsAllocated != 8 && image.bitsAllocated != 16 && image.bitsAllocated != 32)
    {
      throw NotCovered("GDCM compresses only 8, 16 or 32 Bits Allocated");
    }

    if (image.bitsStored == 0 || image.bitsStored > image.bitsAllocated ||
        image.highBit >= image.bitsAllocated || image.highBit + 1 < image.bitsStored)
    {
      throw CodecError("Bits Allocated, Bits Stored and High Bit contradict each other");
    }

    if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
    {
      throw NotCovered("GDCM compresses only 1 or 3 Samples per Pixel");
    }

    return {image.columns,    image.rows,    image.samplesPerPixel,         image.bitsAllocated,
            image.bitsStored, image.highBit, image.pixelRepresentation != 0};
  }
}
