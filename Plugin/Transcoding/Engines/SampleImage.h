// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What a made image is like. A value.
  struct SampleShape
  {
    const char* name = "8 bits";  // for messages
    std::uint16_t bitsAllocated = 8;
    std::uint16_t bitsStored = 8;
    bool isSigned = false;
    std::uint16_t samplesPerPixel = 1;  // 3: RGB
    bool isPlanar = false;              // Planar Configuration 1
    std::uint32_t frames = 1;

    // Odd, as padding is where encoders go wrong
    std::uint16_t rows = 25;
    std::uint16_t columns = 33;
  };

  // A complete DICOM file, in Explicit VR Little Endian, of a smooth image with a little noise: it
  // compresses like a real one. The same shape gives the same bytes.
  std::string MakeSampleImage(const SampleShape& shape);

  // The shapes that the self-test shows each engine: between them they reach all codecs of a
  // library, which often has one for each depth
  const std::vector<SampleShape>& GetSelfTestShapes();

  // As CT has it, and large enough that the codec takes most of the time
  const SampleShape& GetSpeedTestShape();
}
