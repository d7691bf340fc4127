// SPDX-License-Identifier: GPL-3.0-or-later
// What this project reads of a file is what Orthanc reads of it.
#include "Dicom/DicomFileBuilder.h"
#include "Dicom/ReceivedFile.h"
#include "Framework/OrthancJudge.h"
#include "Transcoding/Engines/SampleImage.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    const std::string IMPLICIT = "1.2.840.10008.1.2";
    const std::string EXPLICIT = "1.2.840.10008.1.2.1";
    const std::string BIG_ENDIAN_EXPLICIT = "1.2.840.10008.1.2.2";
    const std::string JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
    const std::string HTJ2K = "1.2.840.10008.1.2.4.201";  // not known to each DCMTK

    constexpr DicomTag IDENTIFIERS[] = {0x00080018, 0x00100020, 0x0020000d, 0x0020000e};
    constexpr DicomTag PATIENT_ID = 0x00100020;

    // With the identifiers, one of them in another VR or with another value
    std::string MakeIdentified(DicomTag changed, const std::string& representation,
                               const std::string& value)
    {
      DicomFileBuilder dataSet;

      for (const DicomTag tag : IDENTIFIERS)
      {
        dataSet.Element(tag,
                        tag == changed      ? representation
                        : tag == PATIENT_ID ? "LO"
                                            : "UI",
                        tag == changed ? value : "1.2.34");
      }

      return dataSet.AsFile();
    }

    DicomFileBuilder MakeNested(const DicomEncoding& encoding)
    {
      const std::string content =
          DicomFileBuilder(encoding).Element(0x00400007, "LO", "CHEST ").GetBytes();
      return DicomFileBuilder(encoding)
          .Identifiers()
          .Sequence(0x00400275, content)
          .Element(0x7fe00010, "OW", "abcd");
    }

    std::string MakeEncapsulated(const std::string& transferSyntax)
    {
      return DicomFileBuilder()
          .Identifiers()
          .Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH)
          .Item(0)
          .Item(4)
          .Raw("abcd")
          .EndOfSequence()
          .AsFile(transferSyntax);
    }

    std::vector<std::string> MakeFiles()
    {
      const DicomEncoding implicit = {false, false};
      const DicomEncoding bigEndian = {true, true};
      return {MakeSampleImage({}),
              MakeEncapsulated(JPEG_BASELINE),
              MakeEncapsulated(HTJ2K),
              MakeNested({}).AsFile(),
              MakeNested(implicit).AsFile(IMPLICIT),
              MakeNested(bigEndian).AsFile(BIG_ENDIAN_EXPLICIT),
              MakeNested({}).GetBytes(),  // without preamble and File Meta Information
              MakeNested(implicit).GetBytes(),
              MakeNested({}).AsFile().substr(132),
              MakeNested({}).AsFile(""),  // of unknown syntaxes
              MakeNested({}).AsFile("1.2.3")};
    }
  }

  class Framework : public ::testing::Test
  {
  protected:
    std::optional<std::string> Identify(const std::string& file) const
    {
      return judge_.Identify(file.data(), file.size());
    }

    // Orthanc takes it, and both know the same identifier
    void ExpectSameIdentifier(const std::string& file) const
    {
      const ReceivedFile received(file);
      EXPECT_STREQ("", received.problem);
      EXPECT_EQ(Identify(file), received.identity.GetInstanceId());
    }

    // Orthanc takes it, though an identifier is in another form than DICOM wants
    void ExpectUnknownIdentifier(const std::string& file) const
    {
      EXPECT_TRUE(Identify(file).has_value());
      EXPECT_STREQ("", ReceivedFile(file).problem);
      EXPECT_FALSE(ReceivedFile(file).identity.IsKnown());
    }

    void ExpectRefused(const std::string& file) const
    {
      EXPECT_FALSE(Identify(file).has_value());
      EXPECT_STRNE("", ReceivedFile(file).problem);
    }

    // Whatever the file is: where both know an identifier, it is the same
    void ExpectNoContradiction(const std::string& file) const
    {
      const std::optional<std::string> expected = Identify(file);
      const std::string id = ReceivedFile(file).identity.GetInstanceId();
      EXPECT_TRUE(!expected.has_value() || id.empty() || id == *expected)
          << ::testing::PrintToString(file);
    }

    const OrthancJudge judge_;
  };

  TEST_F(Framework, KnowsTheSameIdentifierInEachEncoding)
  {
    for (const std::string& file : MakeFiles())
    {
      ExpectSameIdentifier(file);
    }

    DicomFileBuilder twice;  // the first one counts
    twice.Element(0x00080018, "UI", "9.9.99");
    ExpectSameIdentifier(twice.Identifiers().AsFile());
  }

  TEST_F(Framework, KnowsTheSameIdentifierWhateverThePatientId)
  {
    for (const std::string& value :
         {std::string(), std::string("  "), std::string("A "), std::string(" A"),
          std::string("PATIENT\0", 8), std::string(256, 'A')})
    {
      ExpectSameIdentifier(MakeIdentified(PATIENT_ID, "LO", value));
    }

    ExpectUnknownIdentifier(MakeIdentified(PATIENT_ID, "UN", "PATIENT"));

    DicomFileBuilder without;
    without.Element(0x00080018, "UI", "1.21").Element(0x0020000d, "UI", "1.22");
    ExpectSameIdentifier(without.Element(0x0020000e, "UI", "1.23").AsFile());
    ExpectRefused(MakeIdentified(PATIENT_ID, "LO", std::string(258, 'A')));
  }

  TEST_F(Framework, KnowsTheSameIdentifierOfUidsAsDicomWantsThem)
  {
    for (const DicomTag tag : {0x00080018u, 0x0020000du, 0x0020000eu})
    {
      for (const char* const representation : {"LO", "SH", "CS", "UN"})
      {
        ExpectUnknownIdentifier(MakeIdentified(tag, representation, "1.2.35"));
      }

      ExpectSameIdentifier(MakeIdentified(tag, "UI", std::string("1.2.3\0", 6)));
      ExpectUnknownIdentifier(MakeIdentified(tag, "UI", " 1.2 3 "));
      ExpectSameIdentifier(MakeIdentified(tag, "UI", std::string(100, '1')));
    }
  }

  TEST_F(Framework, RefusesWhatLacksAUid)
  {
    for (const DicomTag tag : {0x00080018u, 0x0020000du, 0x0020000eu})
    {
      for (const std::string& value : {std::string(), std::string(2, '\0'), std::string("  ")})
      {
        ExpectRefused(MakeIdentified(tag, "UI", value));
      }
    }

    DicomFileBuilder nested;
    nested.Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH).Identifiers();
    ExpectRefused(nested.EndOfItem().EndOfSequence().AsFile());
    ExpectRefused(DicomFileBuilder::FileMeta(EXPLICIT));
  }

  TEST_F(Framework, RefusesWhatIsNoDicomFileOrMalformed)
  {
    for (const std::string& file :
         {std::string("Hello"), std::string("%PDF-1.4\n1 0 obj <<>> endobj"),
          std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), std::string(5000, '\0'),
          std::string(5000, '\xff')})
    {
      ExpectRefused(file);
    }

    DicomFileBuilder element;
    element.Identifiers().Header(0x00081140, "SQ", UNDEFINED_LENGTH).Item(10);
    ExpectRefused(element.Element(0x00081150, "UI", "1.2.34").EndOfSequence().AsFile());

    DicomFileBuilder noItem;
    noItem.Identifiers().Header(0x00081140, "SQ", 16).Element(0x00081150, "UI", "1.2.3456");
    ExpectRefused(noItem.AsFile());

    for (const char* representation : {"OB", "OW", "OF", "UT", "OV"})
    {
      DicomFileBuilder undefined;
      ExpectRefused(
          undefined.Identifiers().Header(0x00281201, representation, UNDEFINED_LENGTH).AsFile());
    }
  }

  TEST_F(Framework, ReadsEachTruncatedFileInTheSameWay)
  {
    for (const std::string& file : MakeFiles())
    {
      for (std::size_t size = 0; size < file.size(); size++)
      {
        ExpectNoContradiction(file.substr(0, size));
      }
    }
  }

  TEST_F(Framework, ReadsEachBrokenFileInTheSameWay)
  {
    std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same files each time
    const std::vector<std::string> files = MakeFiles();

    for (int i = 0; i < 20000; i++)
    {
      std::string broken = files[random() % files.size()];
      const std::size_t begin = broken.size() > 600 ? 128 : 0;

      for (unsigned int count = 1 + random() % 3; count > 0; count--)
      {
        broken[begin + random() % (broken.size() - begin)] = static_cast<char>(random());
      }

      ExpectNoContradiction(broken);
      ASSERT_FALSE(HasFailure()) << i;
    }
  }
}
