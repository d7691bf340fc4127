// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/PixelComparison.h"

#include "Dicom/EditFile.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::string Compare(const std::string& expected, const std::string& actual)
    {
      return FindDifference(DescribeFile(expected), DescribeFile(actual));
    }

    // The pixels with the high byte of the first one changed by "mask"
    std::string ChangeFirst(const std::string& file, int mask)
    {
      std::string changed = file;
      const std::size_t position = file.size() - DescribeFile(file).pixelData.size() + 1;
      changed[position] = static_cast<char>(changed[position] ^ mask);
      return changed;
    }

    // Of three samples
    std::string MakeRow(std::uint16_t columns, const char* colour, const std::string& pixels)
    {
      const std::string file = MakeSampleImage({"", 8, 8, false, 3, false, 1, 1, columns});
      return SetElement(SetElement(file, TAG_PHOTOMETRIC_INTERPRETATION, "CS", colour),
                        TAG_PIXEL_DATA, "OB", pixels);
    }

    // Two frames of three samples
    std::string MakeColour(bool isPlanar)
    {
      return MakeSampleImage({"", 8, 8, false, 3, isPlanar, 2});
    }
  }

  TEST(PixelComparison, FindsEachDifferenceThatCounts)
  {
    constexpr const char* INCOMPARABLE = "no native pixels in little endian, or too few";
    constexpr const char* ANY = "any";
    const std::string file = MakeSampleImage({"", 16, 12});
    const std::string full = MakeSampleImage({"", 16, 16});
    const std::string overlay = SetNumber(file, 0x60000102, 12);  // in unused bits
    const std::string nonsense = SetNumber(file, 0x00280101, 0);
    const std::string shared = MakeRow(4, "YBR_FULL_422", "12ab34cd");
    const std::string colour = MakeColour(false);
    const std::string encapsulated =
        FakeEngine("fake").Transcode(file.data(), file.size(), {JPEG_LOSSLESS, 90}).file;
    const std::string few = SetElement(file, TAG_PIXEL_DATA, "OB", "ab");
    const struct
    {
      const char* name;
      std::string expected;
      std::string actual;
      std::string difference;
    } cases[] = {
        {"a pixel", full, ChangeFirst(full, 0x80), "the pixels differ"},
        {"an unused bit", file, ChangeFirst(file, 0x40), ""},
        {"a bit", file, ChangeFirst(file, 0x04), ANY},
        {"an overlay", overlay, overlay, ""},
        {"a bit of an overlay", overlay, ChangeFirst(overlay, 0x40), ANY},
        {"Bits Stored", file, full, "Bits Stored is 16 instead of 12"},
        {"a sign", file, SetNumber(file, 0x00280103, 1), "Pixel Representation is 1 instead of 0"},
        {"white", file, SetElement(file, 0x00280004, "CS", "MONOCHROME1"), ANY},
        {"other colours", colour, SetElement(colour, 0x00280004, "CS", "YBR_FULL"),
         "Photometric Interpretation has changed"},
        {"colours with a transform", colour, SetElement(colour, 0x00280004, "CS", "YBR_RCT"), ""},
        {"shared chrominance", shared, shared, ""},
        {"chrominance of its own", shared, MakeRow(4, "YBR_FULL", "1ab2ab3cd4cd"), ANY},
        {"compressed pixels", file, encapsulated, INCOMPARABLE},
        {"too few pixels", file, few, INCOMPARABLE},
        {"bits that make no sense", nonsense, nonsense, ""},
        {"such a bit", nonsense, ChangeFirst(nonsense, 0x40), "the bytes of the pixels differ"}};

    for (const auto& one : cases)
    {
      const std::string found = Compare(one.expected, one.actual);
      EXPECT_EQ(one.difference == ANY && !found.empty() ? found : one.difference, found)
          << one.name;
    }

    EXPECT_FALSE(MeasureError(DescribeFile(nonsense), DescribeFile(nonsense)).has_value());
    EXPECT_EQ(
        "Rows is 26 instead of 25",
        FindOtherAttributes(DescribeFile(file), DescribeFile(SetNumber(file, 0x00280010, 26))));
    EXPECT_EQ("Number of Frames is 2 instead of 1",
              FindOtherAttributes(DescribeFile(file),
                                  DescribeFile(SetElement(file, 0x00280008, "IS", "2"))));
  }

  TEST(PixelComparison, PlanesAreTheSameAsPixels)
  {
    const std::string byPixel = MakeColour(false);

    // The same noise falls on other samples: make the planes of the pixels
    std::string planes;
    const std::string_view pixels = DescribeFile(byPixel).pixelData;
    constexpr std::size_t FRAME = 825;

    for (std::size_t i = 0; i < pixels.size(); i++)
    {
      const std::size_t frame = i / (3 * FRAME);
      const std::size_t sample = i / FRAME % 3;
      planes.push_back(pixels[3 * (frame * FRAME + i % FRAME) + sample]);
    }

    const std::string byPlane = SetElement(MakeColour(true), TAG_PIXEL_DATA, "OB", planes);
    EXPECT_EQ("", Compare(byPixel, byPlane));
    EXPECT_EQ("", Compare(byPlane, byPixel));
    EXPECT_NE("", Compare(byPixel, ChangeFirst(byPlane, 1)));
  }

  TEST(PixelComparison, TheErrorIsAFractionOfTheRangeAndMayBeTolerated)
  {
    const std::string file = MakeSampleImage({"", 16, 12});
    const std::string changed = ChangeFirst(file, 4);
    const double error = MeasureError(DescribeFile(file), DescribeFile(changed))->mean;
    EXPECT_DOUBLE_EQ(0x400 / 4096.0 / 825, error);
    EXPECT_EQ("", FindDifference(DescribeFile(file), DescribeFile(changed), error));
    EXPECT_NE("", FindDifference(DescribeFile(file), DescribeFile(changed), error * 0.99));
    EXPECT_NE("", FindDifference(DescribeFile(file), DescribeFile(changed), 0));

    const std::string four = MakeSampleImage({"", 8, 8, false, 4});
    std::string fourth = four;
    char& byte = fourth[four.size() - DescribeFile(four).pixelData.size() + 3];
    byte = static_cast<char>(byte ^ 1);
    EXPECT_DOUBLE_EQ(1 / 256.0, MeasureError(DescribeFile(four), DescribeFile(fourth))->maximum);

    // White, as RGB and as YBR
    const std::string rgb = MakeRow(1, "RGB", "\xff\xff\xff");
    const std::string ybr = MakeRow(1, "YBR_FULL", "\xff\x80\x80");
    EXPECT_NEAR(0, MeasureError(DescribeFile(rgb), DescribeFile(ybr))->mean, 1e-6);
  }

  TEST(PixelComparison, PaddingIsNoPartOfTheSpan)
  {
    const auto measure = [](const std::vector<std::pair<DicomTag, std::string>>& padding)
    {
      std::string file =
          SetElement(MakeSampleImage({"", 16, 16, true, 1, false, 1, 1, 5}), TAG_PIXEL_DATA, "OW",
                     std::string("\0\x80\1\x80\x9c\xff\0\0\x64\0", 10));  // to 100

      for (const auto& [tag, value] : padding)
      {
        file = SetElement(file, tag, "SS", value);
      }

      return MeasureError(DescribeFile(file), DescribeFile(file))->span * 65536;
    };

    const std::string lowest("\0\x80", 2);
    const std::string next("\1\x80", 2);
    EXPECT_EQ(32868, measure({}));
    EXPECT_EQ(32867, measure({{0x00280120, lowest}}));
    EXPECT_EQ(200, measure({{0x00280120, lowest}, {0x00280121, next}}));
    EXPECT_EQ(200, measure({{0x00280120, next}, {0x00280121, lowest}}));
    EXPECT_EQ(32868, measure({{0x00280121, next}}));  // a limit of nothing

    // Where there is nothing else, padding is all there is
    EXPECT_EQ(32868, measure({{0x00280120, lowest}, {0x00280121, std::string("\xff\x7f", 2)}}));
  }
}
