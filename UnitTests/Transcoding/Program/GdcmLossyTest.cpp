// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/GdcmProgram.h"

#include "Transcoding/LossySettings.h"
#include "Transcoding/PixelComparison.h"

#include <cmath>
#include <cstdlib>

namespace OrthancPerf
{
  namespace
  {
    ImageFile MakeImage(unsigned int allocated, unsigned int stored, bool isSigned = false)
    {
      ImageFile image;
      image.rows = 64;
      image.columns = 80;
      image.bitsAllocated = allocated;
      image.bitsStored = stored;
      image.isSigned = isSigned;
      FillWithGradient(image);
      return image;
    }

    ImageFile MakeColors(const std::string& photometric)
    {
      ImageFile image = MakeImage(8, 8);
      image.samples = 3;
      image.photometric = photometric;
      FillWithGradient(image);
      return image;
    }

    int GetSample(const std::string& pixels, std::size_t index)
    {
      const auto low = static_cast<std::uint8_t>(pixels[2 * index]);
      return low | static_cast<std::int8_t>(pixels[2 * index + 1]) * 256;
    }
  }


  class GdcmLossy : public GdcmProgram
  {
  protected:
    // As a fraction of the range
    double MeasureError(const std::string& file, const std::string& target,
                        unsigned int quality = 90) const
    {
      const std::string decoded = Repeat(file, target, quality);
      const ImageDescription expected = Describe(file);
      const ImageDescription actual = Describe(decoded);
      return OrthancPerf::MeasureError(expected, actual).value_or(PixelError{1, 1, 1}).mean;
    }
  };


  TEST_F(GdcmLossy, PixelsStayClose)
  {
    EXPECT_LT(MeasureError(MakeImage(8, 8).Make(), JPEG_BASELINE), 0.01);
    EXPECT_LT(MeasureError(MakeImage(8, 8).Make(), JPEG_EXTENDED), 0.01);
    EXPECT_LT(MeasureError(MakeImage(16, 12).Make(), JPEG_EXTENDED), 0.01);
    EXPECT_LT(MeasureError(MakeColors("RGB").Make(), JPEG_BASELINE), 0.02);
    EXPECT_LT(MeasureError(MakeColors("YBR_FULL").Make(), JPEG_BASELINE), 0.02);
    EXPECT_LT(MeasureError(MakeColors("RGB").Make(), JPEG_2000), 0.02);

    for (const unsigned int stored : {8U, 12U, 16U})
    {
      for (const bool isSigned : {false, true})
      {
        const std::string file = MakeImage(stored == 8 ? 8 : 16, stored, isSigned).Make();
        EXPECT_LT(MeasureError(file, JPEG_2000), 0.01) << stored;
      }
    }
  }


  TEST_F(GdcmLossy, QualityDecidesTheSize)
  {
    for (const std::string target : {JPEG_BASELINE, JPEG_LS_LOSSY, JPEG_2000})
    {
      const std::string file = MakeImage(8, 8).Make();
      EXPECT_LT(Transcode(file, target, 30).size(), Transcode(file, target, 95).size()) << target;
    }
  }


  TEST_F(GdcmLossy, NearLosslessKeepsItsBound)
  {
    for (const unsigned int quality : {50U, 90U, 95U, 100U})
    {
      const ImageFile image = MakeImage(16, 12);
      const std::string decoded = GetPixels(Repeat(image.Make(), JPEG_LS_LOSSY, quality));

      for (std::size_t i = 0; i < decoded.size() / 2; i++)
      {
        ASSERT_LE(std::abs(GetSample(decoded, i) - GetSample(image.pixels, i)),
                  GetNearLosslessError(quality));
        ASSERT_LT(GetSample(decoded, i), 4096);
      }
    }
  }


  TEST_F(GdcmLossy, SamplesStayWithinBitsStored)
  {
    for (const bool isSigned : {false, true})
    {
      ImageFile image = MakeImage(16, 12, isSigned);
      const std::string decoded = GetPixels(Repeat(image.Make(), JPEG_2000));
      const int lowest = isSigned ? -2048 : 0;

      for (std::size_t i = 0; i < decoded.size() / 2; i++)
      {
        ASSERT_GE(GetSample(decoded, i), lowest);
        ASSERT_LT(GetSample(decoded, i), lowest + 4096);
      }
    }
  }


  TEST_F(GdcmLossy, PhotometricInterpretationSaysWhatTheStreamIs)
  {
    const auto getColors = [this](const std::string& source, const std::string& target)
    {
      const std::string file = Transcode(MakeColors(source).Make(), target);
      return std::string(Describe(file).photometricInterpretation);
    };

    EXPECT_EQ(getColors("RGB", JPEG_BASELINE), "YBR_FULL_422");
    EXPECT_EQ(getColors("YBR_FULL", JPEG_BASELINE), "YBR_FULL_422");
    EXPECT_EQ(getColors("RGB", JPEG_2000), "YBR_ICT");
    EXPECT_EQ(getColors("YBR_FULL", JPEG_2000), "YBR_FULL");
    EXPECT_EQ(getColors("RGB", JPEG_LS_LOSSY), "RGB");
  }


  TEST_F(GdcmLossy, DecodedJpegIsYbrFull)
  {
    const std::string file = Repeat(MakeColors("RGB").Make(), JPEG_BASELINE);
    EXPECT_EQ(Describe(file).photometricInterpretation, "YBR_FULL");
  }


  // DICOM PS3.3 section C.7.5.1.1.2: the range of an image is that of what is not padding
  TEST_F(GdcmLossy, PaddingDoesNotTakeTheQuality)
  {
    ImageFile image = MakeImage(16, 9, true);
    image.bitsStored = 16;
    const std::string plain = image.Make();

    // The left half lies outside of what was reconstructed
    const auto isPadding = [&image](std::size_t index)
    {
      return index % image.columns < image.columns / 2;
    };

    for (std::size_t i = 0; i < image.pixels.size() / 2; i++)
    {
      if (isPadding(i))
      {
        image.pixels.replace(2 * i, 2, std::string("\0\x80", 2));
      }
    }

    const std::string file = image.Make();
    DataSetEditor editor(file.data(), file.size());
    editor.Set(0x00280120, "SS", std::string("\0\x80", 2));
    const std::string padded = editor.Write();
    const std::string decoded = GetPixels(Repeat(padded, JPEG_2000));
    double sum = 0;
    int largest = 0;

    for (std::size_t i = 0; i < decoded.size() / 2; i++)
    {
      const int error = std::abs(GetSample(decoded, i) - GetSample(image.pixels, i));

      if (!isPadding(i))
      {
        sum += error;
        largest = std::max(largest, error);
      }
    }

    // 56 dB of 512 values are an error of 0.8, root of the mean square
    EXPECT_LT(sum, 3 * static_cast<double>(decoded.size()) / 4);
    EXPECT_LT(largest, 30);
    EXPECT_GT(Transcode(padded, JPEG_2000).size(), Transcode(file, JPEG_2000).size());
  }


  TEST_F(GdcmLossy, WhatCannotBeRightIsDeclined)
  {
    ImageFile overlay = MakeImage(16, 16);
    overlay.bitsStored = 12;
    const auto isDeclined = [this](const std::string& file, const std::string& target)
    {
      const EngineResult result = Try(file, target);
      return result.outcome == TranscodingOutcome::Declined && !result.reason.empty();
    };

    for (const std::string target : {JPEG_EXTENDED, JPEG_LS_LOSSY, JPEG_2000})
    {
      EXPECT_TRUE(isDeclined(overlay.Make(), target)) << target;
      EXPECT_TRUE(isDeclined(Set(MakeImage(16, 12).Make(), 0x00280102, 15), target)) << target;
    }

    // Samples at both ends
    EXPECT_TRUE(isDeclined(MakeImage(16, 12, true).Make(), JPEG_LS_LOSSY));
    EXPECT_TRUE(isDeclined(MakeImage(8, 8, true).Make(), JPEG_LS_LOSSY));
    EXPECT_TRUE(isDeclined(MakeImage(16, 16, true).Make(), JPEG_LS_LOSSY));
  }
}
