// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PixelDataFlaw.h"
#include "Transcoding/Obstacles.h"

#include "Dicom/EditFile.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using Fragments = std::vector<std::string>;

    constexpr const char* SIGNED = "a digital signature, which would not hold any more";
    constexpr const char* NO_NUMBER = "Number of Frames is zero, or can't be read";
    constexpr const char* FOLLOWED = "Something follows the end of a frame";

    // For any target
    std::string FindObstacle(const std::string& file)
    {
      const ImageDescription image = DescribeFile(file);
      std::string obstacle = FindObstacle(image, JPEG_LOSSLESS);
      EXPECT_EQ(obstacle, FindObstacle(image, "1.2.840.10008.1.2"));
      return obstacle;
    }

    ImageFile MakeNative(const std::string& frames, std::size_t count)
    {
      ImageFile image;
      image.frames = frames;
      image.FillWithNoise(1, count);
      return image;
    }

    // Rows, Columns and the rest are those of ImageFile
    std::string MakeFrame(const std::string& syntax)
    {
      const ImageFile image = MakeNative("", 1);
      return MakeFakeFrames(DescribeFile(image.Make()), syntax, image.pixels).front();
    }

    std::string MakeEncapsulated(const std::string& syntax, const std::string& frames,
                                 const Fragments& fragments, const std::string& offsetTable = "")
    {
      ImageFile image = MakeNative(frames, 1);
      image.transferSyntax = syntax;
      return SetFragments(image.Make(), fragments, offsetTable);
    }

    std::string FindObstacle(const std::string& syntax, const std::string& frames,
                             const Fragments& fragments, const std::string& offsetTable = "")
    {
      return FindObstacle(MakeEncapsulated(syntax, frames, fragments, offsetTable));
    }
  }

  TEST(PixelDataFlaw, NumberOfFramesIsAnyLegalIntegerStringOrAbsent)
  {
    const auto find = [](const std::string& frames, std::size_t count)
    {
      return FindObstacle(MakeNative(frames, count).Make());
    };

    for (const char* const two : {"2", "+2", " 2 ", "02", "+2 ", "000000000002"})
    {
      EXPECT_EQ("", find(two, 2)) << two;
      EXPECT_EQ("Pixel Data has 12 bytes instead of 24", find(two, 1)) << two;
      EXPECT_EQ("Pixel Data has 36 bytes instead of 24", find(two, 3)) << two;
    }

    for (const char* const one : {"", "  ", "1"})
    {
      EXPECT_EQ("", find(one, 1)) << one;
      EXPECT_EQ("Pixel Data has 24 bytes instead of 12", find(one, 2)) << one;
    }

    for (const char* const none :
         {"abc", "-1", "2.5", "1\\2", "1\\1", "2147483648", "0", "+", "++1", "+-1", "1 2", "1e1",
          "0x1", "99999999999999999999", "              ", "0000000000001"})
    {
      EXPECT_EQ(NO_NUMBER, find(none, 1)) << none;
    }

    // Under another representation, DCMTK takes it for absent
    const std::string file = MakeNative("", 2).Make();
    EXPECT_EQ(NO_NUMBER, FindObstacle(SetElement(file, 0x00280008, "UN", "2 ")));
  }

  TEST(PixelDataFlaw, PaddingOfNativePixelsIsNone)
  {
    ImageFile image = MakeNative("", 1);
    image.pixels += std::string(10, '\0');
    EXPECT_EQ("", FindObstacle(image.Make()));

    image.pixels += std::string(2, '\0');  // a black frame
    EXPECT_NE("", FindObstacle(image.Make()));

    image = MakeNative("", 1);
    image.pixels += "xy";
    EXPECT_NE("", FindObstacle(image.Make()));

    image.bitsAllocated = image.bitsStored = 8;
    image.columns = 1;
    image.rows = 3;
    image.pixels = "abcx";
    EXPECT_EQ("", FindObstacle(image.Make()));

    image.rows = 1;
    image.pixels = "ax";  // no padding: it may be a frame
    EXPECT_NE("", FindObstacle(image.Make()));
  }

  TEST(PixelDataFlaw, ElementsThatComeTwiceOrOutOfOrderAreAnObstacle)
  {
    const std::string file = MakeNative("2", 2).Make();
    const std::string one = DicomFileBuilder().Element(0x00100010, "PN", "A ").GetBytes();
    const std::string two = DicomFileBuilder().Element(0x00104000, "LT", "B ").GetBytes();
    EXPECT_EQ(UNORDERED_ELEMENTS, FindObstacle(file + one));

    const auto findInItem = [&](const std::string& item)
    {
      DicomFileBuilder sequence;
      sequence.Header(0xfffc0001, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH).Raw(item);
      sequence.EndOfItem().Item(static_cast<std::uint32_t>(two.size())).Raw(two).EndOfSequence();
      return FindObstacle(file + sequence.GetBytes());
    };
    EXPECT_EQ("", findInItem(one + two));
    EXPECT_EQ(UNORDERED_ELEMENTS, findInItem(one + one));
    EXPECT_EQ(UNORDERED_ELEMENTS, findInItem(two + one));

    const auto findWithoutPixels = [](const std::string& dataSet)
    {
      const std::string whole = DicomFileBuilder::FileMeta(EXPLICIT_LITTLE_ENDIAN) + dataSet;
      return FindObstacle(DescribeImage(whole.data(), whole.size()), "1.2.840.10008.1.2");
    };
    EXPECT_EQ("", findWithoutPixels(one));
    EXPECT_EQ(UNORDERED_ELEMENTS, findWithoutPixels(one + one));
  }

  TEST(PixelDataFlaw, PrivateSequencesOfImplicitVrAreLookedThrough)
  {
    const DicomEncoding implicit = {false, false};
    const auto make = [&implicit](DicomTag tag, const std::string& value)
    {
      return DicomFileBuilder(implicit).Element(tag, "", value).GetBytes();
    };
    const auto wrap = [&](DicomTag tag, const std::string& content)
    {
      std::string item;
      AppendItem(item, content);
      return make(tag, item);
    };
    const auto find = [](const std::string& dataSet)
    {
      const std::string file = DicomFileBuilder::FileMeta("1.2.840.10008.1.2") + dataSet;
      return FindObstacle(DescribeImage(file.data(), file.size()), "1.2.840.10008.1.2.1");
    };
    const std::string one = make(0x00100010, "A ");
    const std::string two = make(0x00104000, "B ");
    const std::string signature = wrap(0xfffafffa, one);

    EXPECT_EQ("", find(wrap(0x00471001, one + two)));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + one)));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, wrap(0x00471002, one + one))));
    EXPECT_NE("", find(wrap(0x00471001, one + signature)));

    // Bytes that only begin like an item, except for who knows better
    const std::string cut = DicomFileBuilder(implicit).Item(100).Raw(one + one).GetBytes();
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + two + "rest")));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(make(0x00471001, cut)));
    const std::string bytes = make(0x00471002, cut.substr(0, 8));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + one + bytes)));

    // Looking through them has an end, which is that of all elements together
    std::string items;
    for (int i = 0; i < 100000; i++)
    {
      items += DicomFileBuilder(implicit).Item(0).GetBytes();
    }

    const std::string many = make(0x00471001, items);
    EXPECT_EQ("", find(many));
    EXPECT_EQ(NOT_LOOKED_THROUGH, find(many + make(0x00471002, items) + make(0x00471003, items)));
  }

  TEST(PixelDataFlaw, EachFragmentOfRleAndEachCodestreamOfJpegIsAFrame)
  {
    for (const std::string syntax : {RLE, JPEG_LOSSLESS, JPEG_LS})
    {
      const bool isRle = syntax == RLE;
      const std::string frame = MakeFrame(syntax);
      const std::string first = frame.substr(0, 20);
      const std::string last = frame.substr(20);
      const std::string padded = frame + std::string(isRle ? 100 : 10, '\0');
      const auto find = [&](const std::string& frames, const Fragments& fragments)
      {
        return FindObstacle(syntax, frames, fragments);
      };
      EXPECT_EQ("", find("", {frame}));
      EXPECT_EQ("", find("+2", {frame, frame}));
      EXPECT_EQ("", find("", {padded}));
      EXPECT_EQ(isRle, !find("", {first, last}).empty());
      EXPECT_EQ(isRle, !find("2", {first, last, frame}).empty());
      EXPECT_EQ("The fragments of Pixel Data make up 3 frames instead of 2",
                find("2", {frame, frame, frame}));
      EXPECT_NE("", find("2", {frame}));
      EXPECT_NE("", find("", {frame, frame}));
      EXPECT_NE("", find("", {}));
      EXPECT_EQ(NO_NUMBER, find("0", {frame, frame}));
      EXPECT_EQ(FOLLOWED, find("", {frame + frame}));

      if (!isRle)
      {
        EXPECT_NE("", find("2", {first, last}));
        EXPECT_EQ(FOLLOWED, find("", {frame, last}));
      }
    }
  }

  TEST(PixelDataFlaw, OffsetTablesHaveToBeTrue)
  {
    const std::string frame = MakeFrame(JPEG_LOSSLESS);
    const std::size_t second = frame.size() + frame.size() % 2 + 8;
    const auto find = [&](const Fragments& fragments, std::initializer_list<std::size_t> numbers)
    {
      std::string table;

      for (const std::size_t number : numbers)
      {
        AppendInteger(table, number, 4);
      }

      return FindObstacle(JPEG_LOSSLESS, "2", fragments, table);
    };
    EXPECT_EQ("", find({frame, frame}, {0, second}));
    EXPECT_EQ("", find({frame.substr(0, 20), frame.substr(20), frame}, {0, second + 8}));

    constexpr const char* CONTRADICTION =
        "The Basic Offset Table contradicts the fragments of Pixel Data";
    EXPECT_EQ(CONTRADICTION, find({frame, frame}, {0}));
    EXPECT_EQ(CONTRADICTION, find({frame, frame}, {second, 0}));
    EXPECT_EQ(CONTRADICTION, find({frame, frame}, {0, 0}));
    EXPECT_EQ(CONTRADICTION, find({frame, frame}, {0, second, 0}));

    const std::string file = MakeEncapsulated(JPEG_LOSSLESS, "", {frame});

    for (const DicomTag tag : {TAG_EXTENDED_OFFSET_TABLE, TAG_EXTENDED_OFFSET_TABLE_LENGTHS})
    {
      EXPECT_EQ("an Extended Offset Table",
                FindObstacle(SetElement(file, tag, "OV", std::string(8, '\0'))));
    }
  }

  TEST(PixelDataFlaw, PixelsThatAreNotWhatTheTransferSyntaxSaysAreAnObstacle)
  {
    EXPECT_NE("", FindObstacle("1.2.840.10008.1.2.1", "", {MakeFrame(JPEG_LOSSLESS)}));
    ImageFile image = MakeNative("", 1);
    image.transferSyntax = JPEG_LOSSLESS;
    EXPECT_NE("", FindObstacle(image.Make()));
  }

  TEST(PixelDataFlaw, SignaturesAreAnObstacleWhereverTheyAre)
  {
    const std::string file = MakeNative("", 1).Make();
    const auto find = [&file](DicomTag tag, const std::string& content = "")
    {
      return FindObstacle(file + DicomFileBuilder().Element(tag, "SQ", content).GetBytes());
    };
    const std::string signatures = DicomFileBuilder().Element(0xfffafffa, "SQ", "").GetBytes();
    std::string item;
    AppendItem(item, signatures);
    EXPECT_EQ(SIGNED, find(0xfffafffa));
    EXPECT_EQ(SIGNED, find(0x4ffe0001));  // MAC parameters
    EXPECT_EQ(SIGNED, find(0xfffc0001, item));
    EXPECT_NE(SIGNED, find(0x04000500));  // encrypted attributes
  }
}
