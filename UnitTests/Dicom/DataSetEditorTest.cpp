// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSetEditor.h"
#include "Dicom/CodecError.h"
#include "Dicom/DicomFileBuilder.h"
#include "Dicom/PixelElement.h"

#include <gtest/gtest.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    const std::string EXPLICIT = "1.2.840.10008.1.2.1";

    // Pixel Data in fragments, a sequence and a UN of undefined length, a private element
    std::string MakeDataSet()
    {
      DicomFileBuilder implicitContent({false, false});
      implicitContent.Element(0x00080050, "", "AB");

      return DicomFileBuilder()
          .Element(0x00080000, "UL", std::string("\1\0\0\0", 4))
          .Element(0x00080005, "CS", "ISO_IR 100")
          .Element(0x00080018, "UI", std::string("1.2.3.4\0", 8))
          .Sequence(0x00081140, DicomFileBuilder().Element(0x00080018, "UI", "1.2.3.45").GetBytes())
          .Header(0x00091010, "UN", UNDEFINED_LENGTH)
          .Item(static_cast<std::uint32_t>(implicitContent.GetBytes().size()))
          .Raw(implicitContent.GetBytes())
          .EndOfSequence()
          .Element(0x00280010, "US", std::string("\2\0", 2))
          .Raw(MakePixelElement({"\xff\xd8\xff\xd9"}))
          .Element(0xfffcfffc, "OB", std::string(2, '\0'))
          .GetBytes();
    }

    std::string MakeFile(const std::string& dataSet)
    {
      return DicomFileBuilder::FileMeta(EXPLICIT) + dataSet;
    }

    std::string Replaced(std::string text, const std::string& before, const std::string& after)
    {
      return text.replace(text.find(before), before.size(), after);
    }

    void Read(const std::string& file)
    {
      DataSetEditor{ReceivedFile(file)};
    }
  }

  TEST(DataSetEditor, AChangedElementStandsWhereTheOldOneWasAndAllElseStays)
  {
    const std::string dataSet = MakeDataSet();
    const std::string file = MakeFile(dataSet);
    DataSetEditor editor{ReceivedFile(file)};
    EXPECT_EQ(file, editor.Write());
    EXPECT_THROW(editor.Set(0x00080018, "UI", std::string(65535, '1')), std::length_error);
    editor.Remove(0x00280011);
    EXPECT_EQ(file, editor.Write());

    const std::string before = DicomFileBuilder().Element(0x00280010, "US", {"\2\0", 2}).GetBytes();
    const std::string after = DicomFileBuilder().Element(0x00280010, "US", {"\3\0", 2}).GetBytes();
    editor.Set(0x00280010, "US", std::string("\3\0", 2));
    EXPECT_EQ(MakeFile(Replaced(dataSet, before, after)), editor.Write());
    editor.Remove(0x00280010);
    EXPECT_EQ(MakeFile(Replaced(dataSet, before, "")), editor.Write());

    const std::string syntax = "1.2.840.10008.1.2.4.70";
    DataSetEditor meta{ReceivedFile(file)};
    meta.Set(0x00020010, "UI", syntax);  // the length of its group is another one then
    EXPECT_EQ(DicomFileBuilder::FileMeta(syntax) + dataSet, meta.Write());
  }

  TEST(DataSetEditor, ValuesAreFoundAtTheOutermostLevel)
  {
    const std::string file = MakeFile(MakeDataSet());
    const DataSetEditor editor{ReceivedFile(file)};
    EXPECT_EQ("1.2.3.4", editor.Find(0x00080018)->GetText());
    EXPECT_EQ(EXPLICIT, editor.Find(0x00020010)->GetText());
    EXPECT_EQ(nullptr, editor.Find(0x00080050));
    EXPECT_EQ(std::string("\2\0", 2), editor.Find(0x00280010)->GetValue());
    EXPECT_EQ("US", editor.Find(0x00280010)->bytes.substr(4, 2));
    EXPECT_FALSE(editor.Find(TAG_PIXEL_DATA)->HasValue());
    EXPECT_FALSE(editor.Find(0x00081140)->HasValue());
  }

  TEST(DataSetEditor, ANewElementIsPutInTheOrderOfTagsAndDropsTheLengthOfItsGroup)
  {
    const std::string file = MakeFile(DicomFileBuilder()
                                          .Element(0x00080000, "UL", {"\1\0\0\0", 4})
                                          .Element(0x00080016, "UI", "1.2 ")
                                          .Element(0x00100020, "LO", "AA")
                                          .Element(0x00100020, "LO", "BB")
                                          .Element(0x00100030, "DA", "")
                                          .Element(0x00100020, "LO", "CC")
                                          .Element(TAG_PIXEL_DATA, "OW", std::string(8, 'x'))
                                          .GetBytes());
    std::string content;
    AppendElement(content, 0x00081155, "UI", "1.2.3");
    std::string items;
    AppendItem(items, content);

    DataSetEditor editor{ReceivedFile(file)};
    editor.Set(0x00080018, "UI", "1.2.3");
    editor.Set(0x00082112, "SQ", items);
    editor.Set(0x00100020, "LO", "D");  // instead of three
    editor.Set(0x00204000, "LT", "odd");
    editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement({"odd"}));
    const std::string written = editor.Write();
    EXPECT_EQ(MakeFile(DicomFileBuilder()
                           .Element(0x00080016, "UI", "1.2 ")
                           .Element(0x00080018, "UI", {"1.2.3\0", 6})
                           .Header(0x00082112, "SQ", 22)
                           .Item(14)
                           .Element(0x00081155, "UI", {"1.2.3\0", 6})
                           .Element(0x00100020, "LO", "D ")
                           .Element(0x00100030, "DA", "")
                           .Element(0x00204000, "LT", "odd ")
                           .Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH)
                           .Item(0)
                           .Item(4)
                           .Raw({"odd\0", 4})
                           .EndOfSequence()
                           .GetBytes()),
              written);
    EXPECT_EQ("1.2.3", editor.Find(0x00080018)->GetText());
    EXPECT_FALSE(DataSetEditor(ReceivedFile(written)).Find(0x00082112)->HasValue());
  }

  // DICOM PS3.10 section 7.1: a file may be a TIFF, too, whose header points at its pixels
  TEST(DataSetEditor, APreambleThatPointsAtThePixelsGoesWhenTheyMove)
  {
    const std::string pixels =
        DicomFileBuilder().Element(TAG_PIXEL_DATA, "OW", std::string(8, 'x')).GetBytes();

    const auto change = [&pixels](const std::string& preamble)
    {
      std::string file = MakeFile(pixels);
      file.replace(0, preamble.size(), preamble);
      DataSetEditor editor{ReceivedFile(file)};
      editor.Set(TAG_PIXEL_DATA, "OW", "y");
      return editor.Write().substr(0, 128);
    };

    for (const std::string& tiff : {std::string("II*\0", 4), std::string("MM\0*", 4),
                                    std::string("II+\0", 4), std::string("MM\0+", 4)})
    {
      EXPECT_EQ(std::string(128, '\0'), change(tiff + std::string("\x10\0\0\0offsets", 11)));
    }

    for (const std::string other : {"IIIIABCD", "MM", "made by"})
    {
      EXPECT_EQ(other, change(other).substr(0, other.size()));
    }
  }

  TEST(DataSetEditor, OnlyAWholeFileInExplicitVrLittleEndianIsRead)
  {
    const std::string dataSet = MakeDataSet();
    const std::string file = MakeFile(dataSet);

    EXPECT_THROW(Read(DicomFileBuilder::FileMeta("1.2.840.10008.1.2.1.99") + dataSet), CodecError);
    EXPECT_THROW(Read(DicomFileBuilder::FileMeta("") + dataSet), CodecError);
    EXPECT_THROW(Read(DicomFileBuilder({false, false}).Identifiers().AsFile("1.2.840.10008.1.2")),
                 CodecError);
    EXPECT_THROW(Read(DicomFileBuilder({true, true}).Identifiers().AsFile("1.2.840.10008.1.2.2")),
                 CodecError);
    EXPECT_THROW(Read(""), CodecError);
    EXPECT_THROW(Read(dataSet), CodecError);  // without File Meta Information
    EXPECT_THROW(Read(file + DicomFileBuilder().EndOfItem().Raw("rest").GetBytes()), CodecError);

    for (std::size_t size = file.size() - 9; size < file.size(); size++)
    {
      EXPECT_THROW(Read(file.substr(0, size)), CodecError) << size;
    }
  }
}
