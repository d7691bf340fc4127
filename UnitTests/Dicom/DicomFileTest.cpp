// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFile.h"

#include "Dicom/DicomFileBuilder.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace OrthancPerf
{
  namespace
  {
    const std::string IMPLICIT = "1.2.840.10008.1.2";
    const std::string EXPLICIT = "1.2.840.10008.1.2.1";
    const std::string BIG_ENDIAN_EXPLICIT = "1.2.840.10008.1.2.2";
    const std::string DEFLATED = "1.2.840.10008.1.2.1.99";
    const std::string JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
    const std::string HTJ2K = "1.2.840.10008.1.2.4.201";

    // In a buffer of its own, so that AddressSanitizer sees each read behind the end
    DicomFileCheck Check(const std::string& bytes)
    {
      const auto copy = std::make_unique<char[]>(bytes.size());
      bytes.copy(copy.get(), bytes.size());
      return CheckDicomFile(copy.get(), bytes.size());
    }

    DicomFileVerdict Judge(const std::string& bytes)
    {
      return Check(bytes).verdict;
    }

    std::string MakeFile(const std::string& transferSyntax, const DicomFileBuilder& dataSet)
    {
      return DicomFileBuilder::FileMeta(transferSyntax) + dataSet.GetBytes();
    }

    DicomFileVerdict JudgeDataSet(const DicomFileBuilder& dataSet)
    {
      return Judge(MakeFile(EXPLICIT, dataSet));
    }

    DicomFileBuilder Identified(const DicomEncoding& encoding = {})
    {
      return DicomFileBuilder(encoding).Identifiers();
    }
  }

  TEST(DicomFile, IsReadableInEachUncompressedTransferSyntax)
  {
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(EXPLICIT, Identified())));
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(IMPLICIT, Identified({false, false}))));
    EXPECT_EQ(DicomFileVerdict::Readable,
              Judge(MakeFile(BIG_ENDIAN_EXPLICIT, Identified({true, true}))));
  }

  // printf 'PATIENT|1.2.3|1.2.3.1|1.2.3.4' | sha1sum
  TEST(DicomFile, KnowsOrthancsIdentifier)
  {
    const std::string id = "44574d55-6657a7fb-e7d3cd91-f68cf86f-a6c4d043";

    for (const auto& [syntax, encoding] :
         {std::pair(EXPLICIT, DicomEncoding()), std::pair(IMPLICIT, DicomEncoding{false, false})})
    {
      const DicomFileCheck check = Check(MakeFile(syntax, Identified(encoding)));
      EXPECT_EQ(id, check.hasher.GetInstanceId());
    }

    // Also of a file that ends early
    const std::string file = MakeFile(EXPLICIT, Identified().Header(TAG_PIXEL_DATA, "OW", 100));
    const DicomFileCheck truncated = Check(file);
    EXPECT_EQ(DicomFileVerdict::Truncated, truncated.verdict);
    EXPECT_EQ(id, truncated.hasher.GetInstanceId());
  }

  TEST(DicomFile, ABlankPatientIdIsHashedAsIfItWereAbsent)
  {
    const auto identify = [](DicomFileBuilder dataSet)
    {
      return Check(MakeFile(
                       EXPLICIT,
                       dataSet.Element(0x0020000d, "UI", "1.22").Element(0x0020000e, "UI", "1.23")))
          .hasher.GetInstanceId();
    };

    const DicomFileBuilder none = DicomFileBuilder().Element(0x00080018, "UI", "1.21");
    DicomFileBuilder blank = none;
    const std::string id = "46790f8b-9f160a0b-052c1298-dffa850e-0dd63f4a";
    EXPECT_EQ(id, identify(none));
    EXPECT_EQ(id, identify(blank.Element(0x00100020, "LO", "  ")));
  }

  TEST(DicomFile, HashesIdentifiersOfAnUnknownVrAsOrthancDoes)
  {
    const auto identify = [](const std::string& representation, const std::string& patientId)
    {
      return Check(MakeFile(EXPLICIT, DicomFileBuilder()
                                          .Element(0x00080018, representation, "1.21")
                                          .Element(0x00100020, representation, patientId)
                                          .Element(0x0020000d, representation, "1.22")
                                          .Element(0x0020000e, representation, "1.23")))
          .hasher.GetInstanceId();
    };

    const std::string id = identify("LO", "PATIENT");
    EXPECT_FALSE(id.empty());
    EXPECT_EQ(id, identify("UN", "PATIENT"));
    EXPECT_EQ(id, identify("UN", std::string("PATIENT\0", 8)));
    EXPECT_NE(id, identify("UN", "PATIENT "));
    EXPECT_EQ("", identify("UN", std::string("PATIEN\0\0", 8)));
  }

  TEST(DicomFile, SaysWhatKeepsOrthancFromStoringIt)
  {
    const auto explain = [](const std::string& bytes)
    {
      return std::string(Check(bytes).problem);
    };

    EXPECT_EQ("", explain(MakeFile(EXPLICIT, Identified())));
    EXPECT_EQ("not DICOM", explain("This is not DICOM."));
    EXPECT_EQ("the DICOM file is truncated",
              explain(MakeFile(EXPLICIT, Identified().Header(TAG_PIXEL_DATA, "OW", 100))));

    const DicomFileBuilder study = DicomFileBuilder().Element(0x0020000d, "UI", "1.22");
    EXPECT_EQ("Series Instance UID is missing", explain(MakeFile(EXPLICIT, study)));
    EXPECT_EQ("", Check(MakeFile(EXPLICIT, study)).hasher.GetInstanceId());

    DicomFileBuilder series = study;
    series.Element(0x0020000e, "UI", "1.23");
    EXPECT_EQ("SOP Instance UID is missing", explain(MakeFile(EXPLICIT, series)));
  }

  TEST(DicomFile, GivesItsIdentifiersWithoutPadding)
  {
    const DicomFileCheck check = Check(MakeFile(EXPLICIT, Identified()));
    EXPECT_STREQ("1.2.3.4", check.sopInstanceUid.data());
    EXPECT_STREQ(EXPLICIT.c_str(), check.transferSyntaxUid.data());
  }

  TEST(DicomFile, IsReadableWithoutPreambleAndFileMeta)
  {
    for (const bool isExplicit : {false, true})
    {
      for (const bool isBigEndian : {false, true})
      {
        const DicomFileBuilder dataSet = Identified({isExplicit, isBigEndian});
        EXPECT_EQ(DicomFileVerdict::Readable, Judge(dataSet.GetBytes()));
      }
    }
  }

  TEST(DicomFile, IsReadableWithFileMetaButNoPreamble)
  {
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(EXPLICIT, Identified()).substr(132)));
  }

  TEST(DicomFile, IsGuessedFromTheDataSetIfTheTransferSyntaxIsUnknown)
  {
    for (const std::string& unknown : {std::string(), std::string("1.2.3"), HTJ2K})
    {
      EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(unknown, Identified())));
      EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(unknown, Identified({false, false}))));
    }
  }

  TEST(DicomFile, IsRefusedIfOnlyAPrefixStandsBeforeAnImplicitDataSet)
  {
    const std::string prefix = std::string(128, '\0') + "DICM";
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(prefix + Identified().GetBytes()));
    EXPECT_EQ(DicomFileVerdict::Malformed, Judge(prefix + Identified({false, false}).GetBytes()));
  }

  TEST(DicomFile, IsNotDicomIfItIsSomethingElse)
  {
    EXPECT_EQ(DicomFileVerdict::NotDicom, CheckDicomFile(nullptr, 0).verdict);
    EXPECT_EQ(DicomFileVerdict::NotDicom, Judge("Hello"));
    EXPECT_EQ(DicomFileVerdict::NotDicom, Judge("%PDF-1.4\n1 0 obj <<>> endobj"));
    EXPECT_EQ(DicomFileVerdict::NotDicom, Judge(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)));
    EXPECT_EQ(DicomFileVerdict::NotDicom, Judge(std::string(5000, '\0')));
    EXPECT_EQ(DicomFileVerdict::NotDicom, Judge(std::string(5000, '\xff')));
  }

  TEST(DicomFile, IsMissingIdentifiersIfThereIsNoDataSet)
  {
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing, Judge(DicomFileBuilder::FileMeta(EXPLICIT)));
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing, Judge(DicomFileBuilder::FileMeta(DEFLATED)));
  }

  TEST(DicomFile, NeedsEachUidButNotThePatientId)
  {
    const std::pair<DicomTag, DicomFileVerdict> cases[] = {
        {0x00080018, DicomFileVerdict::IdentifiersMissing},
        {0x00100020, DicomFileVerdict::Readable},
        {0x0020000d, DicomFileVerdict::IdentifiersMissing},
        {0x0020000e, DicomFileVerdict::IdentifiersMissing}};

    for (const auto& [omitted, verdict] : cases)
    {
      for (const std::string& value : {std::string("?"), std::string(), std::string(2, '\0')})
      {
        DicomFileBuilder dataSet;

        for (const DicomTag tag : {0x00080018u, 0x00100020u, 0x0020000du, 0x0020000eu})
        {
          const bool isOmitted = tag == omitted;

          if (!isOmitted || value != "?")
          {
            dataSet.Element(tag, "UI", isOmitted ? value : "1.2.34");
          }
        }

        EXPECT_EQ(verdict, JudgeDataSet(dataSet)) << std::hex << omitted;
      }
    }
  }

  TEST(DicomFile, TakesABlankUidForEmpty)
  {
    DicomFileBuilder dataSet;
    dataSet.Element(0x00080018, "UI", "    ");
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing, JudgeDataSet(dataSet.Identifiers()));
  }

  TEST(DicomFile, KeepsTheFirstOfTwoIdentifiers)
  {
    DicomFileBuilder dataSet;
    dataSet.Element(0x00080018, "UI", "9.9.99");
    EXPECT_STREQ("9.9.99", Check(MakeFile(EXPLICIT, dataSet.Identifiers())).sopInstanceUid.data());
  }

  TEST(DicomFile, IsMissingIdentifiersThatOrthancFindsTooLong)
  {
    DicomFileBuilder kept, dropped;
    kept.Element(0x00100020, "LO", std::string(256, 'A')).Identifiers();
    dropped.Element(0x00100020, "LO", std::string(258, 'A')).Identifiers();
    EXPECT_EQ(DicomFileVerdict::Readable, JudgeDataSet(kept));
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing, JudgeDataSet(dropped));
  }

  TEST(DicomFile, CutsAUidThatIsTooLong)
  {
    DicomFileBuilder dataSet;
    dataSet.Element(0x00080018, "UI", std::string(100, '1')).Identifiers();
    EXPECT_EQ(std::string(64, '1'), Check(MakeFile(EXPLICIT, dataSet)).sopInstanceUid.data());
  }

  TEST(DicomFile, DoesNotLookForIdentifiersInsideSequences)
  {
    DicomFileBuilder dataSet;
    dataSet.Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH).Identifiers();
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing,
              JudgeDataSet(dataSet.EndOfItem().EndOfSequence()));
  }

  TEST(DicomFile, IsTruncatedWhereverAnElementIsCut)
  {
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT);
    DicomFileBuilder dataSet = Identified();
    const std::size_t boundary = dataSet.GetBytes().size();
    dataSet.Header(0x00400275, "SQ", UNDEFINED_LENGTH);
    const std::size_t openSequence = dataSet.GetBytes().size();
    dataSet.Item(UNDEFINED_LENGTH).Element(0x00400007, "LO", "CHEST ").EndOfItem();
    dataSet.EndOfSequence();
    const std::string& bytes = dataSet.GetBytes();

    for (std::size_t size = boundary + 1; size < bytes.size(); size++)
    {
      // DCMTK takes a sequence that ends the file right after its header for complete
      const DicomFileVerdict expected =
          size == openSequence ? DicomFileVerdict::Readable : DicomFileVerdict::Truncated;
      EXPECT_EQ(expected, Judge(meta + bytes.substr(0, size))) << size;
    }

    EXPECT_EQ(DicomFileVerdict::Readable, Judge(meta + bytes));
  }

  TEST(DicomFile, ReadsSequencesOfDefinedAndUndefinedLength)
  {
    DicomFileBuilder item;
    item.Element(0x00081150, "UI", "1.2.34");
    const auto length = static_cast<std::uint32_t>(item.GetBytes().size());

    DicomFileBuilder defined = Identified();
    defined.Header(0x00081140, "SQ", length + 8).Item(length).Raw(item.GetBytes());
    EXPECT_EQ(DicomFileVerdict::Readable, JudgeDataSet(defined));

    DicomFileBuilder mixed = Identified();
    mixed.Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(length).Raw(item.GetBytes());
    EXPECT_EQ(DicomFileVerdict::Readable, JudgeDataSet(mixed.EndOfSequence()));
  }

  TEST(DicomFile, IsMalformedIfAnElementIsLargerThanItsItem)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(10);
    dataSet.Element(0x00081150, "UI", "1.2.34").EndOfSequence();
    EXPECT_EQ(DicomFileVerdict::Malformed, JudgeDataSet(dataSet));
  }

  TEST(DicomFile, IsMalformedIfASequenceHoldsNoItem)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(0x00081140, "SQ", 16).Element(0x00081150, "UI", "1.2.3456");
    EXPECT_EQ(DicomFileVerdict::Malformed, JudgeDataSet(dataSet));
  }

  TEST(DicomFile, ReadsUnknownElementsOfUndefinedLengthAsImplicitSequences)
  {
    DicomFileBuilder item({false, false});
    item.Item(UNDEFINED_LENGTH).Element(0x00081150, "", "1.2.34").EndOfItem().EndOfSequence();
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(0x00091010, "UN", UNDEFINED_LENGTH).Raw(item.GetBytes());
    EXPECT_EQ(DicomFileVerdict::Readable, JudgeDataSet(dataSet));
  }

  TEST(DicomFile, ReadsEncapsulatedPixelData)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH).Item(0).Item(4).Raw("abcd");
    EXPECT_EQ(DicomFileVerdict::Truncated, Judge(MakeFile(JPEG_BASELINE, dataSet)));
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(JPEG_BASELINE, dataSet.EndOfSequence())));
  }

  TEST(DicomFile, IsMalformedIfPixelDataIsNativeInACompressedTransferSyntax)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Element(TAG_PIXEL_DATA, "OW", "abcd");
    EXPECT_EQ(DicomFileVerdict::Readable, Judge(MakeFile(EXPLICIT, dataSet)));
    EXPECT_EQ(DicomFileVerdict::Malformed, Judge(MakeFile(JPEG_BASELINE, dataSet)));
  }

  TEST(DicomFile, IsMalformedIfAValueThatIsNoSequenceHasUndefinedLength)
  {
    for (const char* representation : {"OB", "OW", "OF", "UT", "OV"})
    {
      DicomFileBuilder dataSet = Identified();
      dataSet.Header(0x00281201, representation, UNDEFINED_LENGTH);
      EXPECT_EQ(DicomFileVerdict::Malformed, JudgeDataSet(dataSet)) << representation;
    }
  }

  TEST(DicomFile, EndsAtAStrayItemDelimitation)
  {
    DicomFileBuilder dataSet = Identified();
    EXPECT_EQ(DicomFileVerdict::Readable, JudgeDataSet(dataSet.EndOfItem().Raw("whatever comes")));
  }

  TEST(DicomFile, IsUnverifiedIfDeflated)
  {
    const std::string meta = DicomFileBuilder::FileMeta(DEFLATED);
    const DicomFileCheck check = Check(meta + "\x4b\x04\x00");
    EXPECT_EQ(DicomFileVerdict::Unverified, check.verdict);
    EXPECT_TRUE(check.IsAcceptable());
    EXPECT_STREQ("1.2.3.44", check.sopInstanceUid.data());
    EXPECT_EQ(DicomFileVerdict::Malformed, Judge(meta + Identified().GetBytes()));
  }

  TEST(DicomFile, IsUnverifiedIfDeflatedIntoAStoredBlock)
  {
    // RFC 1951 section 3.2.4: its length, and the complement of that
    const std::string meta = DicomFileBuilder::FileMeta(DEFLATED);
    const std::string block = Identified().GetBytes();
    const auto low = static_cast<char>(block.size() & 0xff);
    const auto high = static_cast<char>(block.size() >> 8);
    const std::string length = {'\1', low, high, static_cast<char>(~low), static_cast<char>(~high)};
    EXPECT_EQ(DicomFileVerdict::Unverified, Judge(meta + length + block));
    EXPECT_EQ(DicomFileVerdict::Malformed, Judge(meta + length.substr(0, 4) + high + block));
  }

  TEST(DicomFile, IsReadableWithAnyLengthOfFileMetaThatDcmtkCanFollow)
  {
    std::string file = MakeFile(EXPLICIT, Identified());
    file.replace(140, 4, std::string("\xff\xff\xff\x7f", 4));
    EXPECT_EQ(DicomFileVerdict::IdentifiersMissing, Judge(file));  // all is File Meta Information
  }

  TEST(DicomFile, IsUnverifiedIfNestedDeeperThanIsFollowed)
  {
    DicomFileBuilder dataSet = Identified();

    for (std::size_t i = 0; i <= DataSetWalker::MAXIMUM_NESTING; i++)
    {
      dataSet.Header(0x00400275, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH);
    }

    EXPECT_EQ(DicomFileVerdict::Unverified, JudgeDataSet(dataSet));
  }

  TEST(DicomFile, IsUnverifiedIfItHasMoreFragmentsThanAreCounted)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH);

    for (std::size_t i = 0; i < DataSetWalker::MAXIMUM_STEPS; i++)
    {
      dataSet.Item(0);
    }

    EXPECT_EQ(DicomFileVerdict::Unverified,
              Judge(MakeFile(JPEG_BASELINE, dataSet.EndOfSequence())));
  }

  TEST(DicomFile, SurvivesAnyByteInAnyPlace)
  {
    DicomFileBuilder dataSet = Identified();
    dataSet.Header(0x00400275, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH).EndOfItem();
    dataSet.EndOfSequence().Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH).Item(4).Raw("abcd");
    const std::string file = MakeFile(EXPLICIT, dataSet.EndOfSequence());
    std::mt19937 random(1);

    for (int i = 0; i < 20000; i++)
    {
      std::string broken = file;
      broken[128 + random() % (broken.size() - 128)] = static_cast<char>(random());
      Check(broken.substr(0, 1 + random() % broken.size()));
      Check(broken);
    }
  }
}
