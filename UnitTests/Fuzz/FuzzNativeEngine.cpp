// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a DICOM file, or as an image: what the native encoder makes of it has the same
// pixels.
#include "Fuzz/ImageInput.h"
#include "Fuzz/ImageWords.h"
#include "Fuzz/Require.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/Native/NativeEngine.h"

#include <cstdint>

namespace
{
  using namespace OrthancPerf;

  // By pixel, whole bytes in little endian
  std::string ReadPixels(const std::string& file)
  {
    const ImageDescription image = DescribeImage(file.data(), file.size());
    const auto words = ReadWords(image);
    Require(words.has_value());
    std::string pixels;

    for (const std::uint64_t word : *words)
    {
      pixels.append(reinterpret_cast<const char*>(&word), image.bitsAllocated / 8U);
    }

    return pixels;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static const NativeEngine ENGINE;
  Input input(data, size);
  const std::string rest = input.TakeRest();
  const std::string file = IsFile(rest) ? rest : MakePlainImage(input);
  TranscodingTarget target;
  target.transferSyntax = "1.2.840.10008.1.2.4.70";
  const EngineResult result = ENGINE.Transcode(file.data(), file.size(), target);
  const bool isTranscoded = result.outcome == TranscodingOutcome::Transcoded;

  Require(isTranscoded == result.reason.empty() && isTranscoded != result.file.empty());
  Require(!isTranscoded || EncapsulatedFrames(result.file).Decode() == ReadPixels(file));
  return 0;
}
