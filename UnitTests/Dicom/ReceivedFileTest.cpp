// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"

#include "Dicom/DicomFileBuilder.h"

#include <gtest/gtest.h>

#include <memory>

namespace OrthancPerf
{
  namespace
  {
    const std::string EXPLICIT = "1.2.840.10008.1.2.1";
    const std::string DEFLATED = "1.2.840.10008.1.2.1.99";
    const std::string JPEG_BASELINE = "1.2.840.10008.1.2.4.50";

    constexpr const char* TRUNCATED = "the DICOM file is truncated";
    constexpr const char* MALFORMED = "the DICOM file is malformed";
    constexpr const char* NO_STUDY = "Study Instance UID is missing";

    // In a buffer of its own, so that AddressSanitizer sees each read behind the end
    class Checked
    {
    public:
      explicit Checked(const std::string& bytes) :
        copy_(std::make_unique<char[]>(bytes.size())),
        file_((bytes.copy(copy_.get(), bytes.size()), copy_.get()), bytes.size())
      {
      }

      const ReceivedFile* operator->() const
      {
        return &file_;
      }

    private:
      std::unique_ptr<char[]> copy_;
      ReceivedFile file_;
    };

    std::string Judge(const std::string& bytes)
    {
      return Checked(bytes)->problem;
    }

    void ExpectComplete(const std::string& bytes)
    {
      const Checked file(bytes);
      EXPECT_STREQ("", file->problem);
      EXPECT_TRUE(file->IsComplete());
    }

    std::string MakeFile(const std::string& transferSyntax, const DicomFileBuilder& dataSet)
    {
      return DicomFileBuilder::FileMeta(transferSyntax) + dataSet.GetBytes();
    }

    std::string JudgeDataSet(const DicomFileBuilder& dataSet)
    {
      return Judge(MakeFile(EXPLICIT, dataSet));
    }

    DicomFileBuilder Identified(const DicomEncoding& encoding = {})
    {
      return DicomFileBuilder(encoding).Identifiers();
    }
  }

  TEST(ReceivedFile, SaysWhatKeepsOrthancFromStoringIt)
  {
    const auto explain = [](const std::string& bytes)
    {
      return std::string(Checked(bytes)->problem);
    };

    EXPECT_EQ("", explain(MakeFile(EXPLICIT, Identified())));
    EXPECT_EQ("not DICOM", explain("This is not DICOM."));
    EXPECT_EQ("the DICOM file is truncated",
              explain(MakeFile(EXPLICIT, Identified().Header(TAG_PIXEL_DATA, "OW", 100))));

    const DicomFileBuilder study = DicomFileBuilder().Element(0x0020000d, "UI", "1.22");
    EXPECT_EQ("Series Instance UID is missing", explain(MakeFile(EXPLICIT, study)));
    EXPECT_EQ("", Checked(MakeFile(EXPLICIT, study))->identity.GetInstanceId());

    DicomFileBuilder series = study;
    series.Element(0x0020000e, "UI", "1.23");
    EXPECT_EQ("SOP Instance UID is missing", explain(MakeFile(EXPLICIT, series)));
  }

  TEST(ReceivedFile, GivesItsIdentifiersWithoutPadding)
  {
    const Checked check(MakeFile(EXPLICIT, Identified()));
    EXPECT_EQ("1.2.3.4", check->identity.GetSopInstanceUid());
    EXPECT_EQ(EXPLICIT, check->image.transferSyntax);
  }

  // Orthanc takes the first, and refuses the second
  TEST(ReceivedFile, IsMalformedIfOnlyAPrefixStandsBeforeTheDataSet)
  {
    const std::string prefix = std::string(128, '\0') + "DICM";
    const std::string file = prefix + Identified().GetBytes();
    EXPECT_EQ(MALFORMED, Judge(file));
    EXPECT_NE("", Checked(file)->identity.GetInstanceId());
    EXPECT_EQ(MALFORMED, Judge(prefix + Identified({false, false}).GetBytes()));
  }

  TEST(ReceivedFile, IsMissingIdentifiersIfThereIsNoDataSet)
  {
    EXPECT_EQ(NO_STUDY, Judge(DicomFileBuilder::FileMeta(EXPLICIT)));
    EXPECT_EQ(NO_STUDY, Judge(DicomFileBuilder::FileMeta(DEFLATED)));
  }

  TEST(ReceivedFile, IsTruncatedWhereverAnElementIsCut)
  {
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT);
    DicomFileBuilder dataSet = Identified();
    const std::size_t boundary = dataSet.GetBytes().size();
    dataSet.Header(0x00400275, "SQ", UNDEFINED_LENGTH);
    dataSet.Item(UNDEFINED_LENGTH).Element(0x00400007, "LO", "CHEST ").EndOfItem();
    dataSet.EndOfSequence();
    const std::string& bytes = dataSet.GetBytes();

    for (std::size_t size = boundary + 1; size < bytes.size(); size++)
    {
      EXPECT_EQ(TRUNCATED, Judge(meta + bytes.substr(0, size))) << size;
    }

    ExpectComplete(meta + bytes);
  }

  TEST(ReceivedFile, ReadsSequencesOfDefinedAndUndefinedLength)
  {
    DicomFileBuilder item;
    item.Element(0x00081150, "UI", "1.2.34");
    const auto length = static_cast<std::uint32_t>(item.GetBytes().size());

    DicomFileBuilder defined = Identified();
    defined.Header(0x00081140, "SQ", length + 8).Item(length).Raw(item.GetBytes());
    ExpectComplete(MakeFile(EXPLICIT, defined));

    DicomFileBuilder mixed = Identified();
    mixed.Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(length).Raw(item.GetBytes());
    ExpectComplete(MakeFile(EXPLICIT, mixed.EndOfSequence()));
  }

  TEST(ReceivedFile, ReadsUnknownElementsOfUndefinedLengthAsImplicitSequences)
  {
    DicomFileBuilder item({false, false});
    item.Item(UNDEFINED_LENGTH).Element(0x00081150, "", "1.2.34").EndOfItem().EndOfSequence();
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(0x00091010, "UN", UNDEFINED_LENGTH).Raw(item.GetBytes());
    ExpectComplete(MakeFile(EXPLICIT, dataSet));
  }

  TEST(ReceivedFile, ReadsEncapsulatedPixelData)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH).Item(0).Item(4).Raw("abcd");
    EXPECT_EQ(TRUNCATED, Judge(MakeFile(JPEG_BASELINE, dataSet)));
    ExpectComplete(MakeFile(JPEG_BASELINE, dataSet.EndOfSequence()));
  }

  TEST(ReceivedFile, IsMalformedIfPixelDataIsNativeInACompressedTransferSyntax)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Element(TAG_PIXEL_DATA, "OW", "abcd");
    ExpectComplete(MakeFile(EXPLICIT, dataSet));
    EXPECT_EQ(MALFORMED, Judge(MakeFile(JPEG_BASELINE, dataSet)));
  }

  TEST(ReceivedFile, IsMalformedAtAStrayItemDelimitation)
  {
    DicomFileBuilder dataSet = Identified();
    EXPECT_EQ(MALFORMED, JudgeDataSet(dataSet.EndOfItem().Raw("whatever comes")));
  }

  TEST(ReceivedFile, IsNotReadIfDeflated)
  {
    const std::string meta = DicomFileBuilder::FileMeta(DEFLATED);
    const Checked check(meta + "\x4b\x04\x00");
    EXPECT_STREQ("", check->problem);
    EXPECT_FALSE(check->IsComplete());
    EXPECT_EQ("1.2.3.44", check->identity.GetSopInstanceUid());
  }

  TEST(ReceivedFile, IsMalformedIfTheLengthOfFileMetaIsAnotherButIdentified)
  {
    const std::string file = MakeFile(EXPLICIT, Identified());
    const std::string id = Checked(file)->identity.GetInstanceId();

    for (const std::string& length :
         {std::string("\xff\xff\xff\x7f", 4), std::string("\1\0\0\0", 4), std::string(4, '\0')})
    {
      const Checked wrong(std::string(file).replace(140, 4, length));
      EXPECT_STREQ(MALFORMED, wrong->problem);
      EXPECT_EQ(id, wrong->identity.GetInstanceId());
      EXPECT_FALSE(wrong->IsComplete());
    }
  }

  TEST(ReceivedFile, IsMalformedWithFileMetaTwiceButIdentifiedByTheDataSet)
  {
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT).substr(132);
    const std::string file =
        MakeFile(EXPLICIT, DicomFileBuilder().Raw(meta).Raw(Identified().GetBytes()));
    EXPECT_EQ(MALFORMED, Judge(file));
    EXPECT_NE("", Checked(file)->identity.GetInstanceId());
  }

  // Orthanc's own reader of it refuses them
  TEST(ReceivedFile, IsMalformedIfItsFileMetaHasVrsThatOrthancDoesNotKnow)
  {
    for (const char* const representation : {"ZZ", "UV"})
    {
      DicomFileBuilder meta;
      meta.Element(0x00020010, "UI", EXPLICIT + "\0").Element(0x00020102, representation, "");
      EXPECT_EQ(MALFORMED,
                Judge(std::string(128, '\0') + "DICM" + meta.GetBytes() + Identified().GetBytes()));
    }
  }

  TEST(ReceivedFile, IsNotReadDeeperThanSequencesAreFollowed)
  {
    DicomFileBuilder dataSet = Identified();

    for (std::size_t i = 0; i <= DataSet::MAXIMUM_NESTING; i++)
    {
      dataSet.Header(0x00400275, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH);
    }

    EXPECT_EQ(ReadResult::TooLong, Checked(MakeFile(EXPLICIT, dataSet))->dataSet.result);
  }

  TEST(ReceivedFile, IsNotReadBehindMoreFragmentsThanAreCounted)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH);

    for (std::size_t i = 0; i < DataSet::MAXIMUM_STEPS; i++)
    {
      dataSet.Item(0);
    }

    EXPECT_EQ(ReadResult::TooLong,
              Checked(MakeFile(JPEG_BASELINE, dataSet.EndOfSequence()))->dataSet.result);
  }
}
