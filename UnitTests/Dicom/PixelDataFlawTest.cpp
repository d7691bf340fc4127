// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PixelDataFlaw.h"
#include "Transcoding/Obstacles.h"

#include "Dicom/PixelElement.h"
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
      const ImageDescription image = DescribeImage(file.data(), file.size());
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


    std::string FindNativeObstacle(const std::string& frames, std::size_t count)
    {
      return FindObstacle(MakeNative(frames, count).Make());
    }


    // Rows, Columns and the rest are those of ImageFile
    std::string MakeFrame(const std::string& syntax)
    {
      const ImageFile image = MakeNative("", 1);
      const std::string file = image.Make();
      return MakeFakeFrames(DescribeImage(file.data(), file.size()), syntax, image.pixels).front();
    }


    std::string MakeTable(std::initializer_list<std::size_t> numbers)
    {
      std::string table;

      for (const std::size_t number : numbers)
      {
        AppendInteger(table, number, 4);
      }

      return table;
    }


    DataSetEditor& SetFrames(DataSetEditor& editor, const Fragments& fragments,
                             const std::string& offsetTable)
    {
      editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement(fragments, offsetTable));
      return editor;
    }


    std::string FindObstacle(const std::string& syntax, const std::string& frames,
                             const Fragments& fragments, const std::string& offsetTable = "",
                             const FakeEngine::Change& change = {})
    {
      ImageFile image = MakeNative(frames, 1);
      image.transferSyntax = syntax;
      const std::string file = image.Make();
      DataSetEditor editor{ReceivedFile(file)};
      SetFrames(editor, fragments, offsetTable);

      if (change)
      {
        change(editor);
      }

      return FindObstacle(editor.Write());
    }
  }


  TEST(PixelDataFlaw, EachLegalIntegerStringIsANumberOfFrames)
  {
    for (const char* const frames : {"2", "+2", " 2 ", "02", "+2 ", "000000000002"})
    {
      EXPECT_EQ("", FindNativeObstacle(frames, 2)) << frames;
      EXPECT_EQ("Pixel Data has 12 bytes instead of 24", FindNativeObstacle(frames, 1)) << frames;
      EXPECT_EQ("Pixel Data has 36 bytes instead of 24", FindNativeObstacle(frames, 3)) << frames;
    }
  }


  TEST(PixelDataFlaw, ANumberOfFramesThatCantBeReadIsAnObstacle)
  {
    for (const char* const frames :
         {"abc", "-1", "2.5", "1\\2", "1\\1", "2147483648", "0", "+", "++1", "+-1", "1 2", "1e1",
          "0x1", "99999999999999999999", "              ", "0000000000001"})
    {
      EXPECT_EQ(NO_NUMBER, FindNativeObstacle(frames, 1)) << frames;
    }
  }


  TEST(PixelDataFlaw, ANumberOfFramesUnderAnotherRepresentationIsAnObstacle)
  {
    // DCMTK takes it for absent
    const std::string file = MakeNative("", 2).Make();
    DataSetEditor editor{ReceivedFile(file)};
    editor.Set(0x00280008, "UN", "2 ");
    EXPECT_EQ(NO_NUMBER, FindObstacle(editor.Write()));
  }


  TEST(PixelDataFlaw, WithoutANumberOfFramesThereIsOne)
  {
    for (const char* const frames : {"", "  ", "1"})
    {
      EXPECT_EQ("", FindNativeObstacle(frames, 1)) << frames;
      EXPECT_EQ("Pixel Data has 24 bytes instead of 12", FindNativeObstacle(frames, 2)) << frames;
    }
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
  }


  TEST(PixelDataFlaw, ElementsThatComeTwiceOrOutOfOrderAreAnObstacle)
  {
    const std::string file = MakeNative("2", 2).Make();
    const std::string one = DicomFileBuilder().Element(0x00100010, "PN", "A ").GetBytes();
    const std::string two = DicomFileBuilder().Element(0x00104000, "LT", "B ").GetBytes();
    EXPECT_EQ(UNORDERED_ELEMENTS, FindObstacle(file + one));

    const auto findInItem = [&](const std::string& item)
    {
      return FindObstacle(file + DicomFileBuilder()
                                     .Header(0xfffc0001, "SQ", UNDEFINED_LENGTH)
                                     .Item(UNDEFINED_LENGTH)
                                     .Raw(item)
                                     .EndOfItem()
                                     .Item(static_cast<std::uint32_t>(two.size()))
                                     .Raw(two)
                                     .EndOfSequence()
                                     .GetBytes());
    };
    EXPECT_EQ("", findInItem(one + two));
    EXPECT_EQ(UNORDERED_ELEMENTS, findInItem(one + one));
    EXPECT_EQ(UNORDERED_ELEMENTS, findInItem(two + one));
  }


  TEST(PixelDataFlaw, WithoutPixelsOrderCountsAsWell)
  {
    const std::string one = DicomFileBuilder().Element(0x00100010, "PN", "A ").GetBytes();
    const auto find = [](const std::string& dataSet)
    {
      const std::string file = DicomFileBuilder::FileMeta("1.2.840.10008.1.2.1") + dataSet;
      return FindObstacle(DescribeImage(file.data(), file.size()), "1.2.840.10008.1.2");
    };
    EXPECT_EQ("", find(one));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(one + one));
  }


  TEST(PixelDataFlaw, PrivateSequencesOfImplicitVrAreLookedThrough)
  {
    const DicomEncoding implicit = {false, false};
    const auto wrap = [&](DicomTag tag, const std::string& items)
    {
      const std::string item =
          DicomFileBuilder(implicit).Item(static_cast<std::uint32_t>(items.size())).GetBytes();
      return DicomFileBuilder(implicit).Element(tag, "", item + items).GetBytes();
    };
    const auto find = [](const std::string& dataSet)
    {
      const std::string file = DicomFileBuilder::FileMeta("1.2.840.10008.1.2") + dataSet;
      return FindObstacle(DescribeImage(file.data(), file.size()), "1.2.840.10008.1.2.1");
    };
    const std::string one = DicomFileBuilder(implicit).Element(0x00100010, "", "A ").GetBytes();
    const std::string two = DicomFileBuilder(implicit).Element(0x00104000, "", "B ").GetBytes();
    const std::string signature = wrap(0xfffafffa, one);

    EXPECT_EQ("", find(wrap(0x00471001, one + two)));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + one)));
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, wrap(0x00471002, one + one))));
    EXPECT_NE("", find(wrap(0x00471001, one + signature)));

    // Bytes that only begin like an item, except for who knows better
    const std::string cut = DicomFileBuilder(implicit).Item(100).Raw(one + one).GetBytes();
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + two + "rest")));
    EXPECT_EQ(UNORDERED_ELEMENTS,
              find(DicomFileBuilder(implicit).Element(0x00471001, "", cut).GetBytes()));
    const std::string bytes =
        DicomFileBuilder(implicit).Element(0x00471002, "", cut.substr(0, 8)).GetBytes();
    EXPECT_EQ(UNORDERED_ELEMENTS, find(wrap(0x00471001, one + one + bytes)));

    // Looking through them has an end, which is that of all elements together
    std::string items;
    for (int i = 0; i < 100000; i++)
    {
      items += DicomFileBuilder(implicit).Item(0).GetBytes();
    }

    const auto many = [&](DicomTag tag)
    {
      return DicomFileBuilder(implicit).Element(tag, "", items).GetBytes();
    };
    EXPECT_EQ("", find(many(0x00471001)));
    EXPECT_EQ(NOT_LOOKED_THROUGH, find(many(0x00471001) + many(0x00471002) + many(0x00471003)));
  }


  TEST(PixelDataFlaw, EachFragmentOfRleIsAFrame)
  {
    const std::string frame = MakeFrame(RLE);
    EXPECT_EQ("", FindObstacle(RLE, "", {frame}));
    EXPECT_EQ("", FindObstacle(RLE, "+2", {frame, frame}));
    EXPECT_NE("", FindObstacle(RLE, "2", {frame}));
    EXPECT_NE("", FindObstacle(RLE, "2", {frame, frame, frame}));
    EXPECT_NE("", FindObstacle(RLE, "", {frame, frame}));
    EXPECT_NE("", FindObstacle(RLE, "", {}));
    EXPECT_EQ(FOLLOWED, FindObstacle(RLE, "", {frame + frame}));
    EXPECT_EQ("", FindObstacle(RLE, "", {frame + std::string(100, '\0')}));
  }


  TEST(PixelDataFlaw, EachCodestreamOfJpegIsAFrame)
  {
    for (const std::string& syntax : {std::string(JPEG_LOSSLESS), std::string(JPEG_LS)})
    {
      const std::string frame = MakeFrame(syntax);
      const std::string first = frame.substr(0, 20);
      const std::string last = frame.substr(20);
      EXPECT_EQ("", FindObstacle(syntax, "", {frame}));
      EXPECT_EQ("", FindObstacle(syntax, "", {first, last}));
      EXPECT_EQ("", FindObstacle(syntax, "2", {frame, frame}));
      EXPECT_EQ("", FindObstacle(syntax, "2", {first, last, frame}));
      EXPECT_EQ("The fragments of Pixel Data make up 3 frames instead of 2",
                FindObstacle(syntax, "2", {frame, frame, frame}));
      EXPECT_NE("", FindObstacle(syntax, "2", {first, last}));
      EXPECT_NE("", FindObstacle(syntax, "2", {frame}));
      EXPECT_NE("", FindObstacle(syntax, "", {frame, frame}));
      EXPECT_EQ(NO_NUMBER, FindObstacle(syntax, "0", {frame, frame}));
      EXPECT_NE("", FindObstacle(syntax, "", {}));
      EXPECT_EQ(FOLLOWED, FindObstacle(syntax, "", {frame + frame}));
      EXPECT_EQ(FOLLOWED, FindObstacle(syntax, "", {frame, last}));
      EXPECT_EQ("", FindObstacle(syntax, "", {frame + std::string(10, '\0')}));
    }
  }


  TEST(PixelDataFlaw, OffsetTablesHaveToBeTrue)
  {
    const std::string frame = MakeFrame(JPEG_LOSSLESS);
    const std::string first = frame.substr(0, 20);
    const std::string last = frame.substr(20);
    const std::size_t second = frame.size() + frame.size() % 2 + 8;
    const Fragments frames = {frame, frame};
    EXPECT_EQ("", FindObstacle(JPEG_LOSSLESS, "2", frames, MakeTable({0, second})));
    EXPECT_EQ("",
              FindObstacle(JPEG_LOSSLESS, "2", {first, last, frame}, MakeTable({0, second + 8})));

    for (const std::string& table :
         {MakeTable({0}), MakeTable({second, 0}), MakeTable({0, 0}), MakeTable({0, second, 0})})
    {
      EXPECT_EQ("The Basic Offset Table contradicts the fragments of Pixel Data",
                FindObstacle(JPEG_LOSSLESS, "2", frames, table));
    }
  }


  TEST(PixelDataFlaw, ExtendedOffsetTablesAreAnObstacle)
  {
    const std::string frame = MakeFrame(JPEG_LOSSLESS);

    for (const DicomTag tag : {TAG_EXTENDED_OFFSET_TABLE, TAG_EXTENDED_OFFSET_TABLE_LENGTHS})
    {
      EXPECT_EQ("an Extended Offset Table",
                FindObstacle(JPEG_LOSSLESS, "", {frame}, "",
                             [tag](DataSetEditor& editor)
                             { editor.Set(tag, "OV", std::string(8, '\0')); }));
    }
  }


  TEST(PixelDataFlaw, FramesOfAnotherSizeAreAnObstacle)
  {
    const std::string frame = MakeFrame(JPEG_LOSSLESS);
    const auto find = [&frame](DicomTag tag, unsigned int value)
    {
      return FindObstacle(JPEG_LOSSLESS, "", {frame}, "",
                          [=](DataSetEditor& editor)
                          { editor.Set(tag, "US", ImageFile::Number(value)); });
    };
    EXPECT_NE("", find(0x00280010, 1));
    EXPECT_NE("", find(0x00280011, 4));
    EXPECT_NE("", find(0x00280002, 3));
    EXPECT_NE("", find(0x00280100, 8));
    EXPECT_EQ("", find(0x00280100, 16));
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
    const std::string empty = DicomFileBuilder().Header(0xfffafffa, "SQ", 0).GetBytes();
    const std::string parameters = DicomFileBuilder().Header(0x4ffe0001, "SQ", 0).GetBytes();
    const std::string nested =
        DicomFileBuilder()
            .Header(0xfffc0001, "SQ", static_cast<std::uint32_t>(8 + empty.size()))
            .Item(static_cast<std::uint32_t>(empty.size()))
            .Raw(empty)
            .GetBytes();
    const std::string encrypted = DicomFileBuilder().Header(0x04000500, "SQ", 0).GetBytes();
    EXPECT_EQ(SIGNED, FindObstacle(file + empty));
    EXPECT_EQ(SIGNED, FindObstacle(file + parameters));
    EXPECT_EQ(SIGNED, FindObstacle(file + nested));
    EXPECT_NE(SIGNED, FindObstacle(file + encrypted));
  }
}
