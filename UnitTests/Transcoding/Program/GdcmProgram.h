// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "BuildPaths.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ImageDescription.h"
#include "Transcoding/ImageFile.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/Worker/IsolatedEngine.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace OrthancPerf
{
  constexpr const char* IMPLICIT_VR = "1.2.840.10008.1.2";
  constexpr const char* EXPLICIT_VR = "1.2.840.10008.1.2.1";
  constexpr const char* DEFLATED = "1.2.840.10008.1.2.1.99";
  constexpr const char* JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
  constexpr const char* JPEG_EXTENDED = "1.2.840.10008.1.2.4.51";
  constexpr const char* JPEG_LOSSLESS = "1.2.840.10008.1.2.4.57";
  constexpr const char* JPEG_LOSSLESS_SV1 = "1.2.840.10008.1.2.4.70";
  constexpr const char* JPEG_LS_LOSSLESS = "1.2.840.10008.1.2.4.80";
  constexpr const char* JPEG_LS_LOSSY = "1.2.840.10008.1.2.4.81";
  constexpr const char* JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.90";
  constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.91";
  constexpr const char* RLE_LOSSLESS = "1.2.840.10008.1.2.5";

  // The program OrthancPerfGdcm as the plugin runs it. A crash of it fails the test.
  class GdcmProgram : public testing::Test
  {
  protected:
    GdcmProgram() : engine_("gdcm", BuildPaths::GetGdcmProgram(), 1)
    {
      EXPECT_EQ(engine_.GetProblem(), "");
      workers_ = engine_.GetIdleWorkers();
    }

    ~GdcmProgram() override
    {
      EXPECT_EQ(engine_.GetIdleWorkers(), workers_) << "another process had to take over";
    }

    EngineResult Try(const std::string& file, const std::string& target,
                     unsigned int quality = 90) const
    {
      const ImageDescription image = Describe(file);
      return image.isDeflated && target != EXPLICIT_VR  // as the plugin does it
                 ? Try(Transcode(file, EXPLICIT_VR), target, quality)
                 : AskEngine(engine_, image, file, {target, quality});
    }

    std::string Transcode(const std::string& file, const std::string& target,
                          unsigned int quality = 90) const
    {
      const EngineResult result = Try(file, target, quality);
      EXPECT_EQ(ToLabel(result.outcome), std::string("transcoded"))
          << target << ": " << result.reason;
      return result.file;
    }

    // There and back
    std::string Repeat(const std::string& file, const std::string& target,
                       unsigned int quality = 90) const
    {
      return Transcode(Transcode(file, target, quality), EXPLICIT_VR);
    }

    static ImageDescription Describe(const std::string& file)
    {
      return DescribeImage(file.data(), file.size());
    }

    // Without padding
    static std::string GetPixels(const std::string& file)
    {
      const ImageDescription image = Describe(file);
      return std::string(image.pixelData.substr(0, image.GetNativeSize().value_or(0)));
    }

    static std::string Set(const std::string& file, DicomTag tag, unsigned int value)
    {
      DataSetEditor editor(file.data(), file.size());
      editor.Set(tag, "US", ImageFile::Number(value));
      return editor.Write();
    }

    IsolatedEngine engine_;
    std::vector<pid_t> workers_;
  };


  // A smooth image with a little noise, as codecs like it, over the whole range of values
  inline void FillWithGradient(ImageFile& image, std::size_t frames = 1)
  {
    const int range = 1 << image.bitsStored;
    const int lowest = image.isSigned ? -range / 2 : 0;
    const std::size_t count = frames * image.rows * image.columns * image.samples;
    std::uint32_t noise = 1;
    image.pixels.clear();

    for (std::size_t i = 0; i < count; i++)
    {
      const std::size_t pixel = i / image.samples;
      noise = noise * 1664525 + 1013904223;  // Numerical Recipes
      const double place = static_cast<double>(pixel % image.columns + pixel / image.columns) /
                           static_cast<double>(image.columns + frames * image.rows - 1);
      const int step = static_cast<int>(noise >> 30) * range / 256;
      const int value = std::min(static_cast<int>(place * range) + step, range - 1) + lowest;
      image.pixels.push_back(static_cast<char>(value & 0xff));

      if (image.bitsAllocated == 16)
      {
        image.pixels.push_back(static_cast<char>(value >> 8 & 0xff));
      }
    }
  }
}
