// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "BuildPaths.h"
#include "Dicom/EditFile.h"
#include "Dicom/FrameFragments.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/Worker/WorkerEngine.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace OrthancPerf
{
  constexpr const char* IMPLICIT_VR = TransferSyntaxUid::IMPLICIT_LITTLE_ENDIAN;
  constexpr const char* EXPLICIT_VR = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;
  constexpr const char* DEFLATED = TransferSyntaxUid::DEFLATED_LITTLE_ENDIAN;
  constexpr const char* JPEG_BASELINE = TransferSyntaxUid::JPEG_BASELINE;
  constexpr const char* JPEG_EXTENDED = TransferSyntaxUid::JPEG_EXTENDED;
  constexpr const char* JPEG_LOSSLESS = TransferSyntaxUid::JPEG_LOSSLESS;
  constexpr const char* JPEG_LOSSLESS_SV1 = TransferSyntaxUid::JPEG_LOSSLESS_SV1;
  constexpr const char* JPEG_LS = TransferSyntaxUid::JPEG_LS_LOSSLESS;
  constexpr const char* JPEG_LS_LOSSY = TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS;
  constexpr const char* JPEG_2000_LOSSLESS = TransferSyntaxUid::JPEG_2000_LOSSLESS;
  constexpr const char* JPEG_2000 = TransferSyntaxUid::JPEG_2000;
  constexpr const char* RLE = TransferSyntaxUid::RLE_LOSSLESS;

  // What both programs have to do alike, as the plugin runs them: the parameter is the engine's
  // name. A process that ends fails a test.
  class CodecProgram : public testing::TestWithParam<std::string>
  {
  protected:
    static bool IsGdcm()
    {
      return GetParam() == "gdcm";
    }

    // Those of encapsulated pixels; then all
    static std::vector<std::string> GetLossless()
    {
      std::vector<std::string> targets = {JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS, RLE};
      targets.resize(IsGdcm() ? 5 : 4, JPEG_2000_LOSSLESS);
      return targets;
    }

    static std::vector<std::string> GetAllLossless()
    {
      std::vector<std::string> targets = GetLossless();
      targets.insert(targets.end(), {IMPLICIT_VR, EXPLICIT_VR, DEFLATED});
      return targets;
    }

    static std::vector<std::string> GetCompressed()
    {
      std::vector<std::string> targets = GetLossless();
      targets.insert(targets.end(), {JPEG_BASELINE, JPEG_EXTENDED});

      if (IsGdcm())
      {
        targets.insert(targets.end(), {JPEG_LS_LOSSY, JPEG_2000});
      }

      return targets;
    }

    static const WorkerEngine& GetEngine()
    {
      static std::map<std::string, std::unique_ptr<WorkerEngine>> engines;
      std::unique_ptr<WorkerEngine>& engine = engines[GetParam()];

      if (engine == nullptr)
      {
        engine = std::make_unique<WorkerEngine>(
            GetParam(), IsGdcm() ? BuildPaths::GetGdcmProgram() : BuildPaths::GetDcmtkProgram(), 1);
      }

      return *engine;
    }

    // By a process that lives on. A deflated file is inflated, as the plugin inflates what an
    // engine has deflated.
    static EngineResult Try(const std::string& file, const std::string& target,
                            unsigned int quality = 90)
    {
      const ImageDescription image = DescribeFile(file);
      EngineResult result = image.isDeflated
                                ? GetEngine().Transcode(file.data(), file.size(), {target, quality})
                                : AskEngine(GetEngine(), image, file, {target, quality});
      EXPECT_EQ(result.reason.find("the program "), std::string::npos) << result.reason;
      EXPECT_EQ(result.file.empty(), result.outcome != TranscodingOutcome::Transcoded);
      EXPECT_EQ(result.reason.empty(), result.outcome == TranscodingOutcome::Transcoded);
      return result;
    }

    // Empty if it is not transcoded
    static std::string Make(const std::string& file, const std::string& target,
                            unsigned int quality = 90)
    {
      const EngineResult result = Try(file, target, quality);
      EXPECT_EQ(ToLabel(result.outcome), std::string("transcoded"))
          << target << ": " << result.reason;
      return result.file;
    }

    // There and back
    static std::string Repeat(const std::string& file, const std::string& target,
                              unsigned int quality = 90)
    {
      return Make(Make(file, target, quality), EXPLICIT_VR);
    }

    static void ExpectDeclined(const std::string& file, const std::string& target)
    {
      EXPECT_EQ(ToLabel(Try(file, target).outcome), std::string("declined")) << target;
    }

    // Declined or failed
    static void ExpectUndone(const std::string& file, const std::string& target)
    {
      EXPECT_NE(ToLabel(Try(file, target).outcome), std::string("transcoded")) << target;
    }

    // Without padding
    static std::string GetPixels(const std::string& file)
    {
      const ImageDescription image = DescribeFile(file);
      return std::string(image.pixelData.substr(0, image.GetNativeSize().value_or(0)));
    }

    // The image in this encapsulated transfer syntax, with that for its Pixel Data
    static std::string MakeEncapsulated(const SampleShape& shape, const std::string& syntax,
                                        const std::vector<std::string>& fragments)
    {
      return SetFragments(SetElement(MakeSampleImage(shape), TAG_TRANSFER_SYNTAX_UID, "UI", syntax),
                          fragments);
    }

    // Samples without any relation, which codecs make larger; of all allocated bits
    static std::string MakeNoise(const SampleShape& shape)
    {
      const std::string file = MakeSampleImage(shape);
      std::string noise(DescribeFile(file).GetNativeSize().value(), '\0');
      std::uint32_t state = 12345;

      for (char& byte : noise)
      {
        state = 1664525 * state + 1013904223;  // Numerical Recipes
        byte = static_cast<char>(state >> 24);
      }

      return SetElement(file, TAG_PIXEL_DATA, "OW", noise);
    }

    // As a fraction of the range
    static double MeasureLoss(const std::string& file, const std::string& target,
                              unsigned int quality = 90)
    {
      const std::string decoded = Repeat(file, target, quality);
      return MeasureError(DescribeFile(file), DescribeFile(decoded))
          .value_or(PixelError{1, 1, 1})
          .mean;
    }
  };
}
