// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"

#include "Dicom/DicomFileBuilder.h"
#include "Dicom/EditFile.h"
#include "Transcoding/Engines/SampleImage.h"

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
    constexpr DicomTag SEQUENCE = 0x00400275;

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

    // Of 12 bits, signed, in three frames; without pixels
    DicomFileBuilder MakeImage(const DicomEncoding& encoding)
    {
      return DicomFileBuilder(encoding)
          .Number(0x00280002, 1)
          .Element(0x00280004, "CS", "MONOCHROME2 ")
          .Element(0x00280008, "IS", " 3")
          .Number(0x00280010, 300)
          .Number(0x00280011, 2)
          .Number(0x00280100, 16)
          .Number(0x00280101, 12)
          .Number(0x00280102, 11)
          .Number(0x00280103, 1);
    }

    DicomFileBuilder Identified(const DicomEncoding& encoding = {})
    {
      return DicomFileBuilder(encoding).Identifiers();
    }
  }

  TEST(ReceivedFile, SaysWhatKeepsOrthancFromStoringItAndKnowsItsIdentityAllTheSame)
  {
    const std::string prefix = std::string(128, '\0') + "DICM";
    const std::string good = Identified().AsFile();
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT).substr(132);
    const std::string uid = DicomFileBuilder().Element(0x00081150, "UI", "").GetBytes();
    const DicomFileBuilder study = DicomFileBuilder().Element(0x0020000d, "UI", "1.22");
    const auto withLength = [&](const std::string& length)
    {
      return std::string(good).replace(140, 4, length);
    };
    const auto withMeta = [&](const char* representation)
    {
      DicomFileBuilder elements;
      elements.Element(0x00020010, "UI", EXPLICIT + "\0").Element(0x00020102, representation, "");
      return prefix + elements.GetBytes() + Identified().GetBytes();
    };
    const struct
    {
      const char* name;
      std::string file;
      const char* problem;
      bool isKnown;
    } cases[] = {
        {"all is well", good, "", true},
        {"text", "This is not DICOM.", "not DICOM", false},
        {"cut pixels", Identified().Header(TAG_PIXEL_DATA, "OW", 100).AsFile(), TRUNCATED, true},
        {"no series", study.AsFile(), "Series Instance UID is missing", false},
        {"no instance", DicomFileBuilder(study).Element(0x0020000e, "UI", "1.23").AsFile(),
         "SOP Instance UID is missing", false},
        {"no data set", DicomFileBuilder::FileMeta(EXPLICIT), NO_STUDY, false},
        {"nothing deflated", DicomFileBuilder::FileMeta(DEFLATED), NO_STUDY, false},
        {"a cut sequence", Identified().Header(SEQUENCE, "SQ", 16).AsFile(), TRUNCATED, true},
        {"an endless sequence", Identified().Header(SEQUENCE, "SQ", UNDEFINED_LENGTH).AsFile(),
         TRUNCATED, true},
        {"a cut item", Identified().Header(SEQUENCE, "SQ", 16).Item(16).Raw(uid).AsFile(),
         TRUNCATED, true},
        {"an endless item",
         Identified().Header(SEQUENCE, "SQ", 16).Item(UNDEFINED_LENGTH).Raw(uid).AsFile(),
         TRUNCATED, true},
        {"endless pixels", Identified().Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH).AsFile(),
         TRUNCATED, true},
        {"a stray delimitation", Identified().EndOfItem().Raw("whatever comes").AsFile(), MALFORMED,
         true},
        {"one in Implicit VR", Identified({false, false}).EndOfItem().AsFile("1.2.840.10008.1.2"),
         MALFORMED, true},
        {"no File Meta Information", prefix + Identified().GetBytes(), MALFORMED, true},
        {"none, implicit", prefix + Identified({false, false}).GetBytes(), MALFORMED, true},
        {"File Meta Information twice",
         DicomFileBuilder().Raw(meta).Raw(Identified().GetBytes()).AsFile(), MALFORMED, true},
        {"its length beyond the end", withLength({"\xff\xff\xff\x7f", 4}), MALFORMED, true},
        {"its length of one", withLength({"\1\0\0\0", 4}), MALFORMED, true},
        {"its length of nothing", withLength(std::string(4, '\0')), MALFORMED, true},
        {"a VR there that is none", withMeta("ZZ"), MALFORMED, true},
        {"a VR there that Orthanc does not know", withMeta("UV"), MALFORMED, true}};

    for (const int change : {-30, -28, 12, 18, 127})  // of the length of File Meta Information
    {
      std::string file = good;
      file[140] = static_cast<char>(file[140] + change);
      EXPECT_EQ(MALFORMED, Judge(file)) << change;
    }

    const std::string id = Checked(good)->identity.GetInstanceId();
    EXPECT_NE("", id);
    EXPECT_EQ("1.2.3.4", Checked(good)->identity.GetSopInstanceUid());  // without padding

    for (const auto& one : cases)
    {
      const Checked file(one.file);
      EXPECT_STREQ(one.problem, file->problem) << one.name;
      EXPECT_EQ(one.isKnown ? id : "", file->identity.GetInstanceId()) << one.name;
      const std::string problem = one.problem;
      EXPECT_FALSE(file->IsComplete() && (problem == MALFORMED || problem == TRUNCATED))
          << one.name;
    }
  }

  TEST(ReceivedFile, IsTruncatedWhereverAnElementIsCut)
  {
    const std::string meta = DicomFileBuilder::FileMeta(EXPLICIT);
    DicomFileBuilder dataSet = Identified();
    const std::size_t boundary = dataSet.GetBytes().size();
    dataSet.Sequence(SEQUENCE, DicomFileBuilder().Element(0x00400007, "LO", "CHEST ").GetBytes());
    const std::string& bytes = dataSet.GetBytes();

    for (std::size_t size = boundary + 1; size < bytes.size(); size++)
    {
      EXPECT_EQ(TRUNCATED, Judge(meta + bytes.substr(0, size))) << size;
    }

    ExpectComplete(meta + bytes);
  }

  TEST(ReceivedFile, ReadsSequencesAndPixelDataOfDefinedAndUndefinedLength)
  {
    const std::string item = DicomFileBuilder().Element(0x00081150, "UI", "1.2.34").GetBytes();
    const auto length = static_cast<std::uint32_t>(item.size());
    ExpectComplete(
        Identified().Header(0x00081140, "SQ", length + 8).Item(length).Raw(item).AsFile());
    ExpectComplete(Identified()
                       .Header(0x00081140, "SQ", UNDEFINED_LENGTH)
                       .Item(length)
                       .Raw(item)
                       .EndOfSequence()
                       .AsFile());

    ExpectComplete(Identified().Header(SEQUENCE, "SQ", 0).AsFile());
    ExpectComplete(Identified().Header(SEQUENCE, "SQ", 8).Item(0).AsFile());

    DicomFileBuilder implicit({false, false});
    implicit.Item(UNDEFINED_LENGTH).Element(0x00081150, "", "1.2.34").EndOfItem().EndOfSequence();
    ExpectComplete(
        Identified().Header(0x00091010, "UN", UNDEFINED_LENGTH).Raw(implicit.GetBytes()).AsFile());

    DicomFileBuilder encapsulated = Identified();
    encapsulated.Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH).Item(0).Item(4).Raw("abcd");
    EXPECT_EQ(TRUNCATED, Judge(encapsulated.AsFile(JPEG_BASELINE)));
    ExpectComplete(encapsulated.EndOfSequence().AsFile(JPEG_BASELINE));

    const DicomFileBuilder native = Identified().Element(TAG_PIXEL_DATA, "OW", "abcd");
    ExpectComplete(native.AsFile());
    EXPECT_EQ(MALFORMED, Judge(native.AsFile(JPEG_BASELINE)));
  }

  TEST(ReceivedFile, IsNotReadBehindMoreSequencesOrFragmentsThanAreCounted)
  {
    DicomFileBuilder nested = Identified();
    DicomFileBuilder fragments = Identified().Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH);

    for (std::size_t i = 0; i <= DataSet::MAXIMUM_NESTING; i++)
    {
      nested.Header(SEQUENCE, "SQ", UNDEFINED_LENGTH).Item(UNDEFINED_LENGTH);
    }

    for (std::size_t i = 0; i < DataSet::MAXIMUM_STEPS; i++)
    {
      fragments.Item(0);
    }

    EXPECT_EQ(ReadResult::TooLong, Checked(nested.AsFile())->dataSet.result);
    EXPECT_EQ(ReadResult::TooLong,
              Checked(fragments.EndOfSequence().AsFile(JPEG_BASELINE))->dataSet.result);
  }

  TEST(ReceivedFile, IsNotReadIfDeflated)
  {
    const std::string meta = DicomFileBuilder::FileMeta(DEFLATED);
    const Checked check(meta + "\x4b\x04\x00");
    EXPECT_STREQ("", check->problem);
    EXPECT_FALSE(check->IsComplete());
    EXPECT_EQ("1.2.3.44", check->identity.GetSopInstanceUid());
  }

  TEST(ReceivedFile, SaysNothingOfIdentifiersThatDependOnTheCharacterSetButKnowsTheSame)
  {
    for (const char* const identifiers : {"M\xfcller", "a~b", "a\\b", "\x1b$B"})
    {
      EXPECT_EQ("", InstanceIdentity("1.2.3", identifiers).GetInstanceId());
    }

    const InstanceIdentity umlaut("1.2.3", "M\xfcller|1|2|1.2.3");
    EXPECT_TRUE(umlaut.HasSameIdentifiers(InstanceIdentity("1.2.3", "M\xfcller|1|2|1.2.3")));
    EXPECT_FALSE(umlaut.HasSameIdentifiers(InstanceIdentity("1.2.3", "M\xfcller |1|2|1.2.3")));
  }

  TEST(ImageDescription, ImagesAreReadInEveryEncoding)
  {
    const std::string pixels(3600, 'x');

    for (const auto& [syntax, encoding] :
         {std::pair("1.2.840.10008.1.2", DicomEncoding{false, false}),
          std::pair("1.2.840.10008.1.2.1", DicomEncoding{true, false}),
          std::pair("1.2.840.10008.1.2.2", DicomEncoding{true, true})})
    {
      const std::string file =
          MakeImage(encoding).Element(TAG_PIXEL_DATA, "OW", pixels).AsFile(syntax);
      const ImageDescription image = DescribeFile(file);
      EXPECT_EQ(syntax, image.transferSyntax);
      EXPECT_EQ(PixelDataKind::Native, image.kind);
      EXPECT_EQ(300, image.rows);
      EXPECT_EQ(2, image.columns);
      EXPECT_EQ(1, image.samplesPerPixel);
      EXPECT_EQ(16, image.bitsAllocated);
      EXPECT_EQ(12, image.bitsStored);
      EXPECT_EQ(11, image.highBit);
      EXPECT_EQ(1, image.pixelRepresentation);
      EXPECT_EQ(3u, image.frames);
      EXPECT_EQ("MONOCHROME2", image.photometricInterpretation);
      EXPECT_EQ(pixels, image.pixelData);
      EXPECT_EQ(pixels.size(), image.GetNativeSize());
    }
  }

  TEST(ImageDescription, EncapsulatedPixelsAreKnownWithPaddingBehindThemOrNothing)
  {
    const std::string pixels = MakePixelElement({"abcd"});

    for (const std::string& after :
         {std::string(), DicomFileBuilder().Element(0xfffcfffc, "OB", "xy").GetBytes()})
    {
      const std::string file = MakeImage({}).AsFile("1.2.840.10008.1.2.4.70") + pixels + after;
      const ImageDescription image = DescribeFile(file);
      EXPECT_EQ(PixelDataKind::Encapsulated, image.kind);
      EXPECT_EQ(300, image.rows);
      EXPECT_TRUE(image.pixelData.empty());
      EXPECT_EQ(pixels, image.encapsulatedPixels);
    }
  }

  // DCMTK takes a delimiter among the outermost elements for the end, and would leave out the rest
  TEST(ImageDescription, NothingIsSaidOfBrokenAndDeflatedFiles)
  {
    const std::string rest =
        DicomFileBuilder().EndOfItem().Element(0xfffcfffc, "OB", "ab").GetBytes();
    const std::string file = MakeSampleImage({});
    EXPECT_EQ(PixelDataKind::Unknown, DescribeFile(file + rest).kind);
    EXPECT_EQ(PixelDataKind::Unknown, DescribeFile(file.substr(0, file.size() - 1)).kind);
    EXPECT_EQ(PixelDataKind::None, DescribeFile("").kind);
    EXPECT_EQ(PixelDataKind::None, DescribeImage(nullptr, 0).kind);

    const ImageDescription image = DescribeFile(DicomFileBuilder::FileMeta(DEFLATED) + "\1\2\3");
    EXPECT_EQ(DEFLATED, image.transferSyntax);
    EXPECT_TRUE(image.isDeflated);
    EXPECT_EQ(PixelDataKind::Unknown, image.kind);
  }

  TEST(ImageDescription, OverlaysInUnusedBitsAreSeen)
  {
    const std::string file = MakeSampleImage({});
    EXPECT_FALSE(DescribeFile(SetNumber(file, 0x60020102, 0)).hasEmbeddedOverlays);
    EXPECT_TRUE(DescribeFile(SetNumber(file, 0x60020102, 12)).hasEmbeddedOverlays);
  }

  TEST(ImageDescription, NativeSizeCountsSharedSamplesOnceAndIsNoneOfNonsense)
  {
    const auto getSize = [](std::uint16_t rows, std::uint16_t columns, std::uint16_t samples,
                            std::uint16_t bits, const char* photometric = "",
                            std::uint32_t frames = 1)
    {
      ImageDescription image;
      image.rows = rows;
      image.columns = columns;
      image.samplesPerPixel = samples;
      image.bitsAllocated = bits;
      image.photometricInterpretation = photometric;
      image.frames = frames;
      return image.GetNativeSize();
    };
    EXPECT_EQ(24u, getSize(2, 4, 3, 8));
    EXPECT_EQ(16u, getSize(2, 4, 3, 8, "YBR_FULL_422"));
    EXPECT_EQ(3u, getSize(3, 7, 1, 1));  // 21 bits
    EXPECT_EQ(std::nullopt, getSize(0, 4, 3, 8));
    EXPECT_EQ(std::nullopt, getSize(2, 4, 65535, 8));
    EXPECT_EQ(std::nullopt, getSize(2, 4, 3, 65535));
    EXPECT_EQ(std::nullopt, getSize(65535, 65535, 4, 64, "", 0xffffffff));
  }
}
