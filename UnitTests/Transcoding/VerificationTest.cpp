// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Verification.h"

#include "Dicom/EditFile.h"
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
        return VerifyWithSourceBy(
            {&good_, &other},
            good_.Transcode(wrong.data(), wrong.size(), {JPEG_LOSSLESS, 90}).file);
      }

      // "decoders" of the source; the result is decoded well
      std::string VerifyWithSourceBy(const std::vector<const ITranscodingEngine*>& decoders,
                                     const std::string& file,
                                     std::optional<unsigned int> lossyQuality = {})
      {
        return FindDamage({ReceivedFile(source_), ReceivedFile(file), lossyQuality}, decoders,
                          {&good_});
      }

      static std::string WithLastSampleChanged(std::string file)
      {
        file[file.size() - 2] = static_cast<char>(file[file.size() - 2] ^ 1);
        return file;
      }

      const std::string native_ = MakeSampleImage({});
      const std::string twelveBits_ = MakeSampleImage({"", 16, 12});
      std::string source_ = native_;
      FakeEngine good_{"good"};
      FakeEngine bad_{"bad"};
    };

    constexpr const char* DISAGREEMENT =
        "good and other decode the received image to different pixels";
    constexpr const char* JPEG = TransferSyntaxUid::JPEG_EXTENDED;
    constexpr const char* NEAR_LOSSLESS = TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS;
    constexpr const char* JPEG_2000 = TransferSyntaxUid::JPEG_2000;
  }

  TEST_F(VerificationTest, TheFirstDecoderThatReadsTheResultDecides)
  {
    FakeEngine declines("declines");
    declines.Declines("not covered");
    FakeEngine crashes("crashes");
    crashes.Fails("crashed");
    FakeEngine wrong("wrong");
    wrong.Writes(WithLastSampleChanged(source_));
    bad_.mask = 1;
    const std::string file = Encode(good_, RLE);
    EXPECT_EQ("", Verify(file, {&good_}));
    EXPECT_EQ("good decodes: the pixels differ", Verify(Encode(bad_, RLE), {&good_}));
    EXPECT_EQ("", Verify(source_, {}));
    EXPECT_EQ("no engine decodes the result", Verify(file, {}));
    EXPECT_EQ("", Verify(file, {&declines, &good_}));
    EXPECT_EQ("declines does not decode it: not covered", Verify(file, {&declines}));
    EXPECT_EQ("crashes does not decode it: crashed", Verify(file, {&crashes, &good_}));
    EXPECT_EQ("", Verify(file, {&good_, &crashes}));  // one that reads it is enough
    EXPECT_NE("", Verify(file, {&wrong, &good_}));
    EXPECT_EQ("", Verify(file, {&good_, &wrong}));
  }

  TEST_F(VerificationTest, OneDecodingOfACompressedSourceHasToFit)
  {
    // Decoders of lossy images may round in other ways
    FakeEngine rounding("rounding");
    rounding.Writes(WithLastSampleChanged(source_));
    source_ = Encode(good_, JPEG_BASELINE);
    const std::string file = Encode(good_, RLE);
    EXPECT_EQ("", Verify(file, {&good_}));
    EXPECT_EQ("", VerifyWithSourceBy({&rounding, &good_}, file));
    EXPECT_NE("", VerifyWithSourceBy({&rounding}, file));
    bad_.mask = 1;
    EXPECT_NE("", Verify(Encode(bad_, RLE), {&good_}));

    source_ = file;
    const std::string lossy = Encode(good_, JPEG_BASELINE);
    FakeEngine crashes("crashes");
    crashes.Fails("crashed");
    EXPECT_EQ("", VerifyWithSourceBy({&crashes, &good_}, lossy, 90));
    EXPECT_EQ("good decodes: the source can't be decoded",
              VerifyWithSourceBy({&crashes}, lossy, 90));
  }

  TEST_F(VerificationTest, DecodersThatDisagreeAboutTheSourceAreFound)
  {
    const auto verify = [&](const char* syntax, int mask)
    {
      FakeEngine encoder("encoder", {syntax});
      source_ = native_;
      source_ = Encode(encoder, syntax);
      FakeEngine other("other");
      std::string decoded = native_;

      for (std::size_t i = decoded.size() - 401; i + 1 < decoded.size(); i++)
      {
        decoded[i] = static_cast<char>(decoded[i] ^ mask);
      }

      other.Writes(decoded);
      return VerifyWithSourceBy({&good_, &other}, Encode(good_, RLE));
    };
    EXPECT_EQ("", verify(JPEG_BASELINE, 0));
    EXPECT_EQ("", verify(JPEG_BASELINE, 1));  // of a cosine, they may round in other ways
    EXPECT_EQ(DISAGREEMENT, verify(JPEG_BASELINE, 0x20));

    for (const char* const syntax : {JPEG_LOSSLESS, JPEG_LS, NEAR_LOSSLESS, RLE})
    {
      EXPECT_EQ("", verify(syntax, 0)) << syntax;
      EXPECT_EQ(DISAGREEMENT, verify(syntax, 1)) << syntax;
    }

    FakeEngine other("other");
    other.Writes(SetNumber(native_, 0x00280010, 1));  // Rows
    EXPECT_EQ(DISAGREEMENT, VerifyWithSourceBy({&good_, &other}, Encode(good_, RLE)));
  }

  // One that is wrong, and has written what it saw
  TEST_F(VerificationTest, DecodersThatDisagreeAboutWhatCannotBeMeasuredAreFound)
  {
    const auto verifyBits = [&](DicomTag tag, unsigned int value, unsigned int bit)
    {
      source_ = SetNumber(twelveBits_, tag, value);
      const std::string wrong = source_;
      source_.back() = static_cast<char>(source_.back() ^ bit);
      return VerifyWithDecoderOf(wrong);
    };
    EXPECT_EQ(DISAGREEMENT, verifyBits(0x60000102, 12, 0x40));  // an overlay in unused bits
    EXPECT_EQ(DISAGREEMENT, verifyBits(0x00280102, 3, 1));      // a High Bit that can't be
    EXPECT_EQ("", verifyBits(0x60000102, 12, 0));
    EXPECT_EQ("", verifyBits(0x00280102, 3, 0));

    // Zeros are the same with a sign, and if white is called black
    const std::string black = SetElement(native_, TAG_PIXEL_DATA, "OW", std::string(25 * 33, '\0'));
    const auto verify = [&](DicomTag tag, const char* representation, const std::string& value)
    {
      source_ = black;
      return VerifyWithDecoderOf(SetElement(black, tag, representation, value));
    };
    EXPECT_EQ(DISAGREEMENT, verify(0x00280103, "US", MakeNumber(1)));
    EXPECT_EQ(DISAGREEMENT, verify(0x00280101, "US", MakeNumber(7)));
    EXPECT_EQ(DISAGREEMENT, verify(0x00280004, "CS", "MONOCHROME1"));
    EXPECT_EQ("", verify(0x00280004, "CS", "MONOCHROME2"));
  }

  TEST_F(VerificationTest, WhatDecodersPassOverOrWouldShowInTwoWaysIsFound)
  {
    bad_.Changes(
        [](DataSetEditor& editor)
        {
          const std::string_view element = editor.Find(TAG_PIXEL_DATA)->bytes;
          const std::string frame(element.substr(28, element.size() - 36));
          editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement({frame, frame}));
        });
    EXPECT_EQ("The fragments of Pixel Data make up 2 frames instead of 1",
              Verify(Encode(bad_, RLE), {&good_}));

    FakeEngine writer("writer", {JPEG_LS});
    writer.Changes(
        [](DataSetEditor& editor)
        {
          std::string element(editor.Find(TAG_PIXEL_DATA)->bytes);
          element[element.find("\xff\xf7") + 4] = 7;  // its precision
          editor.SetEncoded(TAG_PIXEL_DATA, element);
        });
    EXPECT_EQ("JPEG-LS of fewer than 8 bits, which libraries misread",
              Verify(Encode(writer, JPEG_LS), {&good_}));

    const std::string pixels(DescribeFile(native_).pixelData);
    source_ = SetElement(native_, TAG_PIXEL_DATA, "OW", pixels + pixels);
    EXPECT_EQ("the bytes behind the frames differ", Verify(native_, {&good_}));
    EXPECT_EQ("", Verify(source_, {&good_}));
  }

  TEST_F(VerificationTest, OfLossyImagesTheGeometryCountsAndTheErrorIsBounded)
  {
    bad_.mask = 0x80;
    const std::string far = Encode(bad_, JPEG_BASELINE);
    EXPECT_EQ("good decodes: the pixels are off by 0.1 % on average and 50.0 % at most",
              Verify(far, {&good_}, 90));
    EXPECT_EQ("", Verify(far, {&good_}, 20));  // may well be, of a sharp edge
    bad_.mask = 0x10;
    EXPECT_EQ("", Verify(Encode(bad_, JPEG_BASELINE), {&good_}, 90));

    bad_.Changes([](DataSetEditor& editor) { editor.Set(0x00280010, "US", MakeNumber(1)); });
    EXPECT_EQ("a frame has other Rows, Columns or Samples per Pixel than its data set says",
              Verify(Encode(bad_, JPEG_BASELINE), {&good_}, 90));
    EXPECT_EQ("Rows is 1 instead of 25", Verify(Encode(bad_, EXPLICIT_LITTLE_ENDIAN), {}, 90));
  }

  TEST_F(VerificationTest, OfLossyImagesBitsBesideThoseThatAreStoredCount)
  {
    source_ = twelveBits_;
    source_.back() = static_cast<char>(source_.back() | 0x80);
    const std::string kept = Encode(good_, JPEG_BASELINE);
    EXPECT_EQ("", Verify(kept, {&good_}, 90));

    FakeEngine masking("masking");
    std::string masked = source_;
    masked.back() = static_cast<char>(masked.back() & 0x0f);
    masking.Writes(masked);
    EXPECT_EQ("masking decodes: bits that are not stored have changed",
              Verify(kept, {&masking}, 90));
  }

  // Near-lossless JPEG-LS has a bound, JPEG its quantization, JPEG 2000 the noise that it aims at
  TEST(Verification, TheErrorIsBoundedByWhatTheSyntaxPromises)
  {
    const struct
    {
      const char* transferSyntax;
      unsigned int quality;
      double mean;
      double maximum;
      bool isExcessive;
    } cases[] = {{NEAR_LOSSLESS, 100, 0, 0, false},
                 {NEAR_LOSSLESS, 100, 0.001, 1, true},
                 {NEAR_LOSSLESS, 90, 1.5, 2, false},
                 {NEAR_LOSSLESS, 90, 0.001, 3, true},
                 {NEAR_LOSSLESS, 1, 20, 20, false},
                 {NEAR_LOSSLESS, 1, 1, 21, true},
                 {JPEG, 100, 0.9, 7, false},
                 {JPEG, 100, 1.1, 7, true},
                 {JPEG, 90, 7, 60, false},
                 {JPEG, 90, 8, 60, true},
                 {JPEG, 90, 1, 70, true},
                 {JPEG, 50, 34, 270, false},
                 {JPEG, 50, 1, 4095, true},  // a sample that wrapped around
                 {JPEG, 1, 700, 3340, false},
                 {JPEG_2000, 90, 30, 700, false},
                 {JPEG_2000, 90, 60, 700, true},
                 {JPEG_2000, 90, 1, 4095, true},
                 {JPEG_2000, 1, 2000, 4095, false}};
    PixelError error;

    for (const auto& one : cases)
    {
      error.span = 1;
      error.mean = one.mean / 4096;  // of samples of 12 bits that span all of their range
      error.maximum = one.maximum / 4096;
      EXPECT_EQ(one.isExcessive,
                !FindExcessiveError(error, 12, one.transferSyntax, one.quality).empty())
          << one.transferSyntax << " " << one.quality << ": " << one.mean << ", " << one.maximum;
    }

    error.mean = 0.25;
    error.maximum = 1;
    EXPECT_EQ("the pixels are off by 25.0 % on average and 100.0 % at most",
              FindExcessiveError(error, 8, JPEG, 90));
  }
}
