// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/LossyDerivation.h"
#include "Dicom/CodecError.h"

#include "Dicom/EditFile.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>
#include <set>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* NEW_UID = "2.25.1234";

    std::string MakeSource(const FileChange& change = [](DataSetEditor&) {})
    {
      return EditFile(MakeSampleImage({"", 8, 8, false, 1, false, 1, 100, 100}), change);
    }

    std::string MakeSource(DicomTag tag, const char* representation, const std::string& value)
    {
      return SetElement(MakeSource(), tag, representation, value);
    }

    // What an engine would give, 5000 bytes of Pixel Data with all headers
    std::string Compress(const std::string& source, const FileChange& change = {})
    {
      FakeEngine engine("fake");
      engine.Changes(
          [&change](DataSetEditor& editor)
          {
            editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement({std::string(5000 - 36, 'x')}));

            if (change)
            {
              change(editor);
            }
          });
      return engine.Transcode(source.data(), source.size(), {JPEG_BASELINE, 90}).file;
    }

    std::string Describe(const std::string& source, const std::string& compressed,
                         const char* syntax = JPEG_BASELINE)
    {
      return DescribeLossyDerivation(ReceivedFile(compressed), ReceivedFile(source),
                                     {syntax, 75, NEW_UID});
    }

    std::string Describe(const std::string& source)
    {
      return Describe(source, Compress(source));
    }

    std::string Text(const std::string& file, DicomTag tag)
    {
      const DataSetEditor editor{ReceivedFile(file)};
      const DataElement* const element = editor.Find(tag);
      return element == nullptr ? "" : std::string(element->GetText());
    }

    std::string Identify(const std::string& source, unsigned int quality = 90,
                         const char* syntax = JPEG_BASELINE)
    {
      return MakeDerivedUid(DescribeFile(source), syntax, quality);
    }

    // The bytes of a sequence
    std::string Bytes(const std::string& file, DicomTag tag)
    {
      return std::string(DataSetEditor(ReceivedFile(file)).Find(tag)->bytes);
    }
  }

  TEST(LossyDerivation, SaysWhatWasDoneOfWhichImageAndAllElseStays)
  {
    const std::string source = MakeSource(0x00091001, "LO", "private");
    const std::string compressed = Compress(source);
    const std::string byOthersWords =
        Compress(source,
                 [](DataSetEditor& editor)
                 {
                   editor.Set(0x00080008, "CS", "DERIVED\\SECONDARY\\OTHER");
                   editor.Set(0x00280106, "US", std::string("\x10\0", 2));
                   editor.Set(0x00280107, "US", std::string("\xff\0", 2));
                   editor.Set(0x00282112, "DS", "3");
                   editor.Set(0x00282114, "CS", "OTHER");
                   editor.Set(0x00082111, "ST", "the engine's own words");
                 });

    for (const std::string& file : {Describe(source, compressed), Describe(source, byOthersWords)})
    {
      for (const auto& [tag, text] :
           {std::pair<DicomTag, std::string>(0x00080018, NEW_UID),
            {0x00020003, NEW_UID},
            {0x00020010, JPEG_BASELINE},
            {0x00080008, "DERIVED\\PRIMARY"},
            {0x00280106, ""},  // the pixels have other values now
            {0x00280107, ""},
            {0x00282110, "01"},
            {0x00282112, "2"},
            {0x00282114, "ISO_10918_1"},
            {0x00082111, "Lossy compression with JPEG Baseline, quality 75 of 100, compression "
                         "ratio 2"},
            {0x00091001, "private"},
            {0x0020000e, Text(source, 0x0020000e)}})
      {
        EXPECT_EQ(text, Text(file, tag));
      }

      EXPECT_EQ(Bytes(compressed, TAG_PIXEL_DATA), Bytes(file, TAG_PIXEL_DATA));
      EXPECT_EQ(PixelDataKind::Encapsulated, DescribeFile(file).kind);

      for (const auto& [tag, text] : {std::pair<DicomTag, std::string>(0x00089215, "113040"),
                                      {0x00089215, "DCM"},
                                      {0x00089215, "Lossy Compression"},
                                      {0x00082112, Text(source, 0x00080018)},
                                      {0x00082112, "1.2.840.10008.5.1.4.1.1.7"},
                                      {0x00082112, "121320"},
                                      {0x00082112, "Uncompressed predecessor"}})
      {
        EXPECT_NE(std::string::npos, Bytes(file, tag).find(text)) << text;
      }
    }

    for (const auto& [syntax, method] : {std::pair("1.2.840.10008.1.2.4.51", "ISO_10918_1"),
                                         std::pair("1.2.840.10008.1.2.4.81", "ISO_14495_1"),
                                         std::pair("1.2.840.10008.1.2.4.91", "ISO_15444_1")})
    {
      EXPECT_EQ(method, Text(Describe(source, compressed, syntax), 0x00282114));
    }

    EXPECT_THROW(Describe(source, compressed, RLE), CodecError);
    EXPECT_THROW(Describe(source, "nonsense"), CodecError);
    EXPECT_THROW(Describe("nonsense", compressed), CodecError);
  }

  TEST(LossyDerivation, WhatTheSourceSaidIsKept)
  {
    const auto derive = [](DicomTag tag, const char* representation, const std::string& value)
    {
      return Text(Describe(MakeSource(tag, representation, value)), tag);
    };
    EXPECT_EQ("DERIVED\\PRIMARY\\AXIAL", derive(0x00080008, "CS", "ORIGINAL\\PRIMARY\\AXIAL"));
    EXPECT_EQ("DERIVED\\SECONDARY", derive(0x00080008, "CS", ""));
    EXPECT_EQ("DERIVED\\SECONDARY", derive(0x00080008, "CS", "ORIGINAL"));
    EXPECT_EQ(0u, derive(0x00082111, "ST", "Subtraction").find("Subtraction; Lossy compression"));
    EXPECT_EQ(std::string(1000, 'x'), derive(0x00082111, "ST", std::string(1000, 'x')));

    const std::string again = Describe(MakeSource(
        [](DataSetEditor& editor)
        {
          editor.Set(0x00282110, "CS", "01");
          editor.Set(0x00282112, "DS", "8.5");
          editor.Set(0x00282114, "CS", "ISO_15444_1");
        }));
    EXPECT_EQ("8.5\\2", Text(again, 0x00282112));
    EXPECT_EQ("ISO_15444_1\\ISO_10918_1", Text(again, 0x00282114));
    EXPECT_NE(std::string::npos, Bytes(again, 0x00082112).find("121322"));

    // Methods stay beside their ratios: older files have none
    const std::string older = Describe(MakeSource(0x00282112, "DS", "8\\5"));
    EXPECT_EQ("8\\5\\2", Text(older, 0x00282112));
    EXPECT_EQ("\\\\ISO_10918_1", Text(older, 0x00282114));
  }

  // Some senders forget to say so: the transfer syntax was the only thing that did
  TEST(LossyDerivation, ALossyTransferSyntaxIsEarlierCompression)
  {
    const std::string source = MakeSource();
    const std::string compressed = Compress(source);

    for (const auto& [syntax, purpose] :
         {std::pair("1.2.840.10008.1.2.4.51", "121322"), std::pair(JPEG_LOSSLESS, "121320")})
    {
      const std::string file =
          Describe(SetElement(compressed, 0x00020010, "UI", syntax), compressed);
      EXPECT_NE(std::string::npos, Bytes(file, 0x00082112).find(purpose)) << syntax;
    }
  }

  TEST(LossyDerivation, EarlierDerivationIsKept)
  {
    const std::string projection = MakeItem(0x00080100, "SH", "113076");
    const std::string slices =
        MakeItem(0x00081155, "UI", "1.2.3.11") + MakeItem(0x00081155, "UI", "1.2.3.12");
    std::string endless;
    AppendUndefinedLength(endless, 0x00082112, "SQ");
    endless += slices;
    AppendSequenceDelimitation(endless);

    for (const bool isEndless : {false, true})
    {
      const std::string file = Describe(MakeSource(
          [&](DataSetEditor& editor)
          {
            editor.Set(0x00089215, "SQ", projection);
            editor.Set(0x00082112, "SQ", slices);

            if (isEndless)
            {
              editor.SetEncoded(0x00082112, endless);
            }
          }));

      // Steps in the order in which they were taken; the direct source first
      const std::string codes = Bytes(file, 0x00089215);
      EXPECT_EQ(projection, codes.substr(12, projection.size()));
      EXPECT_LT(codes.find("113076"), codes.find("113040"));

      const std::string sources = Bytes(file, 0x00082112);
      EXPECT_LT(sources.find("121320"), sources.find("1.2.3.11"));
      ASSERT_GT(sources.size(), slices.size());
      EXPECT_EQ(slices, sources.substr(sources.size() - slices.size()));
      EXPECT_NE(PixelDataKind::Unknown, DescribeFile(file).kind);
    }
  }

  // It may have the items of one, which would be lost
  TEST(LossyDerivation, ADerivationThatIsNoSequenceIsNotReplaced)
  {
    for (const DicomTag tag : {0x00089215, 0x00082112})
    {
      EXPECT_THROW(Describe(MakeSource(tag, "UN", "something")), CodecError);
      EXPECT_NE(std::string::npos,
                Bytes(Describe(MakeSource(tag, "UN", "")), 0x00089215).find("113040"));
    }
  }

  TEST(LossyDerivation, TheSameRequestForTheSameSourceIsTheSameInstanceAgainAndAnyOtherIsNot)
  {
    const auto make = [](const char* date)
    {
      return MakeSource(
          [date](DataSetEditor& editor)
          {
            editor.Set(0x00080012, "DA", date);
            editor.Set(0x00080018, "UI", "1.2.3");
            editor.Set(TAG_PIXEL_DATA, "OW", "0123456789");
          });
    };
    EXPECT_EQ(Identify(make("20260101")), Identify(make("20260102")));

    // FNV-1a of 128 bits, computed by other means
    EXPECT_EQ("2.25.72354862496856112043776593643985990604", Identify(make("")));

    const std::string source = MakeSource();
    const std::string encapsulated = Compress(source);
    std::string other = source;
    other[other.size() - 20] = static_cast<char>(other[other.size() - 20] ^ 1);
    std::string otherEncapsulated = encapsulated;
    otherEncapsulated[encapsulated.size() - 20] = 'y';
    std::set<std::string> uids = {
        Identify(source),       Identify(other),
        Identify(encapsulated), Identify(otherEncapsulated),
        Identify(source, 91),   Identify(source, 90, "1.2.840.10008.1.2.4.91")};

    for (int i = 0; i < 100; i++)
    {
      const std::string uid = Identify(MakeSource(0x00080018, "UI", "1.2." + std::to_string(i)));
      EXPECT_LE(uid.size(), 64u);
      EXPECT_EQ("2.25.", uid.substr(0, 5)) << uid;
      EXPECT_EQ(std::string::npos, uid.find_first_not_of("0123456789", 5)) << uid;
      EXPECT_NE('0', uid.at(5)) << uid;
      uids.insert(uid);
    }

    EXPECT_EQ(106u, uids.size());
  }
}
