// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a DICOM file: what the native encoder makes of it has the same pixels.
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/NativeEngine.h"
#include "Transcoding/SourceImage.h"

#include <cstdint>
#include <cstdlib>

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
}


extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static const NativeEngine ENGINE;
  TranscodingTarget target;
  target.transferSyntax = "1.2.840.10008.1.2.4.70";
  const EngineResult result = ENGINE.Transcode(data, size, target);

  if (result.outcome != TranscodingOutcome::Transcoded)
  {
    return result.reason.empty() ? (std::abort(), 0) : 0;
  }

  const DataSetEditor file(data, size);
  const SourceImage image(file);
  std::string pixels;

  for (std::size_t i = 0; i < image.GetFrameCount(); i++)
  {
    pixels += Interleave(image.GetFrame(i));
  }

  if (EncapsulatedFrames(result.file).Decode() != pixels)
  {
    std::abort();
  }

  return 0;
}
