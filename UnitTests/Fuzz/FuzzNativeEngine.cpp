// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a DICOM file, or as the pixels of an image: what the native encoder makes of it has
// the same pixels.
#include "Fuzz/Require.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/ImageFile.h"
#include "Transcoding/Native/NativeEngine.h"

#include <cstdint>

namespace
{
  using namespace OrthancPerf;

  std::string Interleave(const RasterFrame& frame)
  {
    std::string pixels;
    const std::size_t count = frame.rows * frame.columns;

    for (std::size_t i = 0; i < count * frame.samples; i++)
    {
      const std::size_t sample = frame.isPlanar ? i % frame.samples * count + i / frame.samples : i;
      pixels.append(reinterpret_cast<const char*>(frame.pixels) + sample * frame.bytesPerSample,
                    frame.bytesPerSample);
    }

    return pixels;
  }

  // Without a DICOM prefix the first bytes say what image the others are, so that a run without a
  // corpus comes to the encoder, too
  std::string MakeFile(const std::uint8_t* data, std::size_t size)
  {
    const std::string bytes(reinterpret_cast<const char*>(data), size);

    if (size < 6 || bytes.find("DICM") == 128)
    {
      return bytes;
    }

    ImageFile image;
    image.rows = data[0];
    image.columns = data[1];
    image.samples = data[2] % 3 == 0 ? 3 : 1;
    image.photometric = image.samples == 3 ? "RGB" : "MONOCHROME2";
    image.planarConfiguration = data[2] / 3 % 2;
    image.bitsAllocated = data[3] % 2 == 0 ? 8 : 16;
    image.bitsStored = image.bitsAllocated;
    image.frames = std::to_string(data[4] % 5);
    image.pixels = bytes.substr(5);
    const std::size_t needed = data[4] % 5 * image.GetFrameSize();

    if (data[4] < 250 && needed < 4096)
    {
      image.pixels.resize(needed, static_cast<char>(data[4]));
    }

    return image.Make();
  }

  std::string ReadPixels(const std::string& bytes)
  {
    std::string pixels;

    for (const RasterFrame& frame : FindRasterFrames(DescribeImage(bytes.data(), bytes.size())))
    {
      pixels += Interleave(frame);
    }

    return pixels;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static const NativeEngine ENGINE;
  const std::string file = MakeFile(data, size);
  TranscodingTarget target;
  target.transferSyntax = "1.2.840.10008.1.2.4.70";
  const EngineResult result = ENGINE.Transcode(file.data(), file.size(), target);
  const bool isTranscoded = result.outcome == TranscodingOutcome::Transcoded;

  Require(isTranscoded == result.reason.empty() && isTranscoded != result.file.empty());
  Require(!isTranscoded || EncapsulatedFrames(result.file).Decode() == ReadPixels(file));
  return 0;
}
