// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Verification.h"

#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    class VerificationTest : public testing::Test
    {
    protected:
      std::string Encode(const ITranscodingEngine& engine, const std::string& target) const
      {
        return engine.Transcode(source_.data(), source_.size(), {target, 90}).file;
      }

      std::string Verify(const std::string& file,
                         const std::vector<const ITranscodingEngine*>& decoders,
                         std::optional<unsigned int> lossyQuality = {}) const
      {
        return FindDamage({ReceivedFile(source_), ReceivedFile(file), lossyQuality}, decoders,
                          decoders);
      }

      // What was made of this file, which another decoder makes of the source
      std::string VerifyWithDecoderOf(const std::string& wrong)
      {
        source_ = Encode(good_, RLE);
        FakeEngine other("other");
        other.Writes(wrong);
        const std::string file =
            good_.Transcode(wrong.data(), wrong.size(), {JPEG_LOSSLESS, 90}).file;
        return FindDamage({ReceivedFile(source_), ReceivedFile(file), {}}, {&good_, &other},
                          {&good_});
      }

      std::string source_ = MakeSampleImage({});
      FakeEngine good_{"good"};
      FakeEngine bad_{"bad"};
    };


    constexpr const char* JPEG = TransferSyntaxUid::JPEG_EXTENDED;
    constexpr const char* NEAR_LOSSLESS = TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS;
    constexpr const char* JPEG_2000 = TransferSyntaxUid::JPEG_2000;

    // In steps of samples of 12 bits that span all of their range
    bool IsExcessive(double mean, double maximum, const char* transferSyntax, unsigned int quality)
    {
      constexpr double RANGE = 4096;
      PixelError error;
      error.mean = mean / RANGE;
      error.maximum = maximum / RANGE;
      error.span = 1;
      return !FindExcessiveError(error, 12, transferSyntax, quality).empty();
    }
  }


  TEST_F(VerificationTest, EqualPixelsAreVerified)
  {
    EXPECT_EQ("", Verify(Encode(good_, RLE), {&good_}));
  }


  TEST_F(VerificationTest, WrongPixelsAreFound)
  {
    bad_.Spoils(1);
    EXPECT_EQ("good decodes: the pixels differ", Verify(Encode(bad_, RLE), {&good_}));
  }


  TEST_F(VerificationTest, NativeResultsNeedNoDecoder)
  {
    EXPECT_EQ("", Verify(source_, {}));
    EXPECT_EQ("no engine decodes the result", Verify(Encode(good_, RLE), {}));
  }


  TEST_F(VerificationTest, ADecoderThatDeclinesIsNoVerdict)
  {
    bad_.Declines("not covered");
    EXPECT_EQ("", Verify(Encode(good_, RLE), {&bad_, &good_}));
    EXPECT_EQ("bad does not decode it: not covered", Verify(Encode(good_, RLE), {&bad_}));
  }


  TEST_F(VerificationTest, WhatOneDecoderCannotReadIsNotStored)
  {
    bad_.Fails("crashed");
    EXPECT_EQ("bad does not decode it: crashed", Verify(Encode(good_, RLE), {&bad_, &good_}));
    EXPECT_EQ("", Verify(Encode(good_, RLE), {&good_, &bad_}));  // one that reads it is enough
  }


  TEST_F(VerificationTest, JpegLsOfFewerThanEightBitsIsNotStored)
  {
    // Whichever decoder says that all is well
    FakeEngine writer("writer", {JPEG_LS});
    writer.Changes(
        [](DataSetEditor& editor)
        {
          std::string element(editor.Find(TAG_PIXEL_DATA)->bytes);
          const std::size_t precision = element.find("\xff\xf7") + 4;
          element[precision] = 7;
          editor.SetEncoded(TAG_PIXEL_DATA, element);
        });
    EXPECT_EQ("JPEG-LS of fewer than 8 bits, which libraries misread",
              Verify(Encode(writer, JPEG_LS), {&good_}));
  }


  TEST_F(VerificationTest, TheFirstDecoderDecides)
  {
    // What another decoder would say does not count: one of the two is wrong
    const std::string file = Encode(good_, RLE);
    FakeEngine wrong("wrong");
    std::string other = source_;
    other[other.size() - 2] = static_cast<char>(other[other.size() - 2] ^ 1);
    wrong.Writes(other);
    EXPECT_NE("", Verify(file, {&wrong, &good_}));
    EXPECT_EQ("", Verify(file, {&good_, &wrong}));
  }


  TEST_F(VerificationTest, CompressedSourcesAreDecodedToo)
  {
    source_ = Encode(good_, JPEG_BASELINE);
    EXPECT_EQ("", Verify(Encode(good_, RLE), {&good_}));
    bad_.Spoils(1);
    EXPECT_NE("", Verify(Encode(bad_, RLE), {&good_}));
  }


  TEST_F(VerificationTest, OneDecodingOfTheSourceHasToFit)
  {
    // Decoders of lossy images may round in other ways
    const std::string native = source_;
    source_ = Encode(good_, JPEG_BASELINE);
    const std::string file = Encode(good_, RLE);
    FakeEngine rounding("rounding");
    std::string other = native;
    other[other.size() - 2] = static_cast<char>(other[other.size() - 2] ^ 1);
    rounding.Writes(other);
    EXPECT_EQ("", FindDamage({ReceivedFile(source_), ReceivedFile(file), {}}, {&rounding, &good_},
                             {&good_}));
    EXPECT_NE("",
              FindDamage({ReceivedFile(source_), ReceivedFile(file), {}}, {&rounding}, {&good_}));
  }


  TEST_F(VerificationTest, DecodersThatSeeAnotherSizeDisagree)
  {
    FakeEngine encoder("encoder", {JPEG_LOSSLESS});
    const std::string native = source_;
    source_ = Encode(encoder, JPEG_LOSSLESS);
    DataSetEditor editor{ReceivedFile(native)};
    editor.Set(0x00280010, "US", std::string("\1\0", 2));  // Rows
    FakeEngine other("other");
    other.Writes(editor.Write());
    const std::string file = Encode(good_, RLE);
    EXPECT_EQ(
        "good and other decode the received image to different pixels",
        FindDamage({ReceivedFile(source_), ReceivedFile(file), {}}, {&good_, &other}, {&good_}));
  }


  TEST_F(VerificationTest, DecodersThatDisagreeAboutTheSourceAreFound)
  {
    const std::string native = source_;
    const auto verify = [&](const char* syntax, int mask)
    {
      FakeEngine encoder("encoder", {syntax});
      source_ = native;
      source_ = Encode(encoder, syntax);
      FakeEngine other("other");
      std::string decoded = native;

      for (std::size_t i = decoded.size() - 401; i + 1 < decoded.size(); i++)
      {
        decoded[i] = static_cast<char>(decoded[i] ^ mask);
      }

      other.Writes(decoded);
      const std::string file = Encode(good_, RLE);
      return FindDamage({ReceivedFile(source_), ReceivedFile(file), {}}, {&good_, &other},
                        {&good_});
    };

    constexpr const char* DISAGREEMENT =
        "good and other decode the received image to different pixels";
    EXPECT_EQ("", verify(JPEG_BASELINE, 0));
    EXPECT_EQ("", verify(JPEG_BASELINE, 1));  // of a cosine, they may round in other ways
    EXPECT_EQ(DISAGREEMENT, verify(JPEG_BASELINE, 0x20));

    for (const char* const syntax : {JPEG_LOSSLESS, JPEG_LS, "1.2.840.10008.1.2.4.81", RLE})
    {
      EXPECT_EQ("", verify(syntax, 0)) << syntax;
      EXPECT_EQ(DISAGREEMENT, verify(syntax, 1)) << syntax;
    }
  }


  // One that is wrong, and has written what it saw
  TEST_F(VerificationTest, DecodersThatDisagreeAboutBitsThatCannotBeMeasuredAreFound)
  {
    SampleShape shape;
    shape.bitsAllocated = 16;
    shape.bitsStored = 12;
    const std::string plain = MakeSampleImage(shape);
    const auto verify = [&](DicomTag tag, char value, unsigned int bit)
    {
      DataSetEditor editor{ReceivedFile(plain)};
      editor.Set(tag, "US", std::string({value, '\0'}));
      source_ = editor.Write();
      const std::string wrong = source_;
      source_[source_.size() - 1] = static_cast<char>(source_.back() ^ bit);
      return VerifyWithDecoderOf(wrong);
    };

    constexpr const char* DISAGREEMENT =
        "good and other decode the received image to different pixels";
    EXPECT_EQ(DISAGREEMENT, verify(0x60000102, 12, 0x40));  // an overlay in unused bits
    EXPECT_EQ(DISAGREEMENT, verify(0x00280102, 3, 1));      // a High Bit that can't be
    EXPECT_EQ("", verify(0x60000102, 12, 0));
    EXPECT_EQ("", verify(0x00280102, 3, 0));
  }


  // Small numbers are the same with a sign, and all numbers if white is called black
  TEST_F(VerificationTest, DecodersThatDisagreeAboutWhatNumbersMeanAreFound)
  {
    DataSetEditor zeros{ReceivedFile(source_)};
    const std::size_t size = zeros.Find(TAG_PIXEL_DATA)->GetValue().size();
    zeros.Set(TAG_PIXEL_DATA, "OW", std::string(size, '\0'));
    const std::string plain = zeros.Write();
    const auto verify = [&](DicomTag tag, const char* representation, const std::string& value)
    {
      DataSetEditor editor{ReceivedFile(plain)};
      editor.Set(tag, representation, value);
      const std::string wrong = editor.Write();
      source_ = plain;
      return VerifyWithDecoderOf(wrong);
    };

    constexpr const char* DISAGREEMENT =
        "good and other decode the received image to different pixels";
    EXPECT_EQ(DISAGREEMENT, verify(0x00280103, "US", std::string("\1\0", 2)));
    EXPECT_EQ(DISAGREEMENT, verify(0x00280101, "US", std::string("\7\0", 2)));
    EXPECT_EQ(DISAGREEMENT, verify(0x00280004, "CS", "MONOCHROME1"));
    EXPECT_EQ("", verify(0x00280004, "CS", "MONOCHROME2"));
  }


  TEST_F(VerificationTest, WhatDecodersPassOverIsFound)
  {
    // Decoders would show one frame of each
    const auto repeatFrame = [](DataSetEditor& editor)
    {
      const std::string_view element = editor.Find(TAG_PIXEL_DATA)->bytes;
      const std::string_view item = element.substr(20, element.size() - 28);
      editor.SetEncoded(TAG_PIXEL_DATA,
                        std::string(element.substr(0, 20)).append(item).append(element.substr(20)));
    };
    bad_.Changes(repeatFrame);
    const std::string two = Encode(bad_, RLE);
    EXPECT_EQ("The fragments of Pixel Data make up 2 frames instead of 1", Verify(two, {&good_}));
  }


  TEST_F(VerificationTest, TheWholeOfPixelDataIsCompared)
  {
    const std::string native = source_;
    DataSetEditor editor{ReceivedFile(source_)};
    const std::string pixels(DescribeImage(source_.data(), source_.size()).pixelData);
    editor.Set(TAG_PIXEL_DATA, "OW", pixels + pixels);
    source_ = editor.Write();
    EXPECT_EQ("the bytes behind the frames differ", Verify(native, {&good_}));
    EXPECT_EQ("", Verify(source_, {&good_}));
  }


  TEST_F(VerificationTest, OfLossyImagesTheGeometryCounts)
  {
    bad_.Spoils(0x10);
    EXPECT_EQ("", Verify(Encode(bad_, JPEG_BASELINE), {&good_}, 90));

    bad_.Changes([](DataSetEditor& editor)
                 { editor.Set(0x00280010, "US", std::string("\1\0", 2)); });
    EXPECT_EQ("a frame has other Rows, Columns or Samples per Pixel than its data set says",
              Verify(Encode(bad_, JPEG_BASELINE), {&good_}, 90));
    EXPECT_EQ("Rows is 1 instead of 25", Verify(Encode(bad_, "1.2.840.10008.1.2.1"), {}, 90));
  }


  TEST_F(VerificationTest, OfLossyImagesTheErrorIsBounded)
  {
    bad_.Spoils(0x80);
    const std::string file = Encode(bad_, JPEG_BASELINE);
    EXPECT_EQ("good decodes: the pixels are off by 0.1 % on average and 50.0 % at most",
              Verify(file, {&good_}, 90));
    EXPECT_EQ("", Verify(file, {&good_}, 20));  // may well be, of a sharp edge
  }


  TEST_F(VerificationTest, OfLossyImagesTheSourceHasToBeDecodedToo)
  {
    source_ = Encode(good_, RLE);
    const std::string file = Encode(good_, JPEG_BASELINE);
    bad_.Fails("crashed");
    EXPECT_EQ(
        "", FindDamage({ReceivedFile(source_), ReceivedFile(file), 90}, {&bad_, &good_}, {&good_}));
    EXPECT_EQ("good decodes: the source can't be decoded",
              FindDamage({ReceivedFile(source_), ReceivedFile(file), 90}, {&bad_}, {&good_}));
  }


  TEST_F(VerificationTest, OfLossyImagesBitsBesideThoseThatAreStoredCount)
  {
    SampleShape shape;
    shape.bitsAllocated = 16;
    shape.bitsStored = 12;
    source_ = MakeSampleImage(shape);
    const std::size_t last = source_.size() - 1;  // of the 825 samples, and padding
    source_[last] = static_cast<char>(source_[last] | 0x80);
    const std::string kept = Encode(good_, JPEG_BASELINE);
    EXPECT_EQ("", Verify(kept, {&good_}, 90));

    FakeEngine masking("masking");
    std::string masked = source_;
    masked[last] = static_cast<char>(masked[last] & 0x0f);
    masking.Writes(masked);
    EXPECT_EQ("masking decodes: bits that are not stored have changed",
              Verify(kept, {&masking}, 90));
  }


  TEST(Verification, NearLosslessJpegLsKeepsItsWord)
  {
    EXPECT_FALSE(IsExcessive(0, 0, NEAR_LOSSLESS, 100));
    EXPECT_TRUE(IsExcessive(0.001, 1, NEAR_LOSSLESS, 100));
    EXPECT_FALSE(IsExcessive(1.5, 2, NEAR_LOSSLESS, 90));
    EXPECT_TRUE(IsExcessive(0.001, 3, NEAR_LOSSLESS, 90));
    EXPECT_FALSE(IsExcessive(20, 20, NEAR_LOSSLESS, 1));
    EXPECT_TRUE(IsExcessive(1, 21, NEAR_LOSSLESS, 1));
  }


  TEST(Verification, JpegIsBoundedByItsQuantization)
  {
    EXPECT_FALSE(IsExcessive(0.9, 7, JPEG, 100));
    EXPECT_TRUE(IsExcessive(1.1, 7, JPEG, 100));
    EXPECT_FALSE(IsExcessive(7, 60, JPEG, 90));
    EXPECT_TRUE(IsExcessive(8, 60, JPEG, 90));
    EXPECT_TRUE(IsExcessive(1, 70, JPEG, 90));
    EXPECT_FALSE(IsExcessive(34, 270, JPEG, 50));
    EXPECT_TRUE(IsExcessive(1, 4095, JPEG, 50));  // a sample that wrapped around
    EXPECT_FALSE(IsExcessive(700, 3340, JPEG, 1));
  }


  TEST(Verification, Jpeg2000IsBoundedByTheNoiseThatItAimsAt)
  {
    EXPECT_FALSE(IsExcessive(30, 700, JPEG_2000, 90));
    EXPECT_TRUE(IsExcessive(60, 700, JPEG_2000, 90));
    EXPECT_TRUE(IsExcessive(1, 4095, JPEG_2000, 90));
    EXPECT_FALSE(IsExcessive(2000, 4095, JPEG_2000, 1));
  }


  TEST(Verification, TheExcessIsNamed)
  {
    PixelError error;
    error.mean = 0.25;
    error.maximum = 1;
    EXPECT_EQ("the pixels are off by 25.0 % on average and 100.0 % at most",
              FindExcessiveError(error, 8, JPEG, 90));
  }
}
