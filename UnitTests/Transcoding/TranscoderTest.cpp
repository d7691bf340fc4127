// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Transcoder.h"

#include "Allocations.h"
#include "Dicom/DicomFileBuilder.h"
#include "Dicom/EditFile.h"
#include "Threads.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/Verification.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <tuple>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingOutcome;

    class RecordingObserver : public ITranscodingObserver
    {
    public:
      void OnTranscoding(const TranscodingReport& report) noexcept override
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        texts_.push_back(report.engine + ":" + ToLabel(report.outcome));
      }

      std::vector<std::string> texts_;

    private:
      std::mutex mutex_;
    };

    constexpr DicomTag IMAGE_COMMENTS = 0x00204000;

    // The fake engines don't compress: instead, they leave out the comments
    std::string MakeSource()
    {
      return SetElement(MakeSampleImage({}), IMAGE_COMMENTS, "LT", std::string(2000, 'x'));
    }

    // Two engines that work, until a test makes them not
    class TranscoderTest : public testing::Test
    {
    protected:
      TranscoderTest()
      {
        dcmtk_->isSlow = true;
        directory_.TestAll();
        Set(JPEG_LOSSLESS);
      }

      static IngestTranscoding MakeSettings(const char* target,
                                            EngineChoice choice = EngineChoice::Automatic,
                                            bool verify = false, bool ofCompressed = false)
      {
        IngestTranscoding settings;
        settings.transferSyntax = target;
        settings.engine = choice;
        settings.verify = verify;
        settings.ofCompressed = ofCompressed;
        return settings;
      }

      void Set(const char* target, EngineChoice choice = EngineChoice::Automatic,
               bool verify = false, bool ofCompressed = false)
      {
        transcoder_.SetSettings(MakeSettings(target, choice, verify, ofCompressed));
      }

      Transcoding Send(const std::string& file)
      {
        return transcoder_.TranscodeIncoming(ReceivedFile(file));
      }

      Transcoding SendAgain(const std::string& file)
      {
        return transcoder_.TranscodeIncoming(ReceivedFile(file),
                                             [this](const InstanceIdentity& instance)
                                             {
                                               asked_.push_back(instance.GetInstanceId());
                                               return true;
                                             });
      }

      Transcoding Ask(const std::string& file, const std::vector<std::string>& syntaxes)
      {
        return transcoder_.TranscodeTo(ReceivedFile(file), syntaxes);
      }

      void ExpectLeftAlone(const Transcoding& transcoding, Outcome outcome,
                           const std::string& reason)
      {
        EXPECT_STREQ(ToLabel(outcome), ToLabel(transcoding.report.outcome));
        EXPECT_EQ(reason, transcoding.report.reason);
        EXPECT_EQ("", transcoding.file);
        EXPECT_EQ(0u, transcoding.report.targetSize);
      }

      static FakeEngine* Install(Engines& engines, const char* name)
      {
        auto engine = std::make_unique<FakeEngine>(name);
        engine->Changes([](DataSetEditor& editor) { editor.Remove(IMAGE_COMMENTS); });
        engines.push_back(std::move(engine));
        return static_cast<FakeEngine*>(engines.back().get());
      }

      const std::string source_ = MakeSource();
      Engines engines_;
      FakeEngine* const native_ = Install(engines_, "native");
      FakeEngine* const dcmtk_ = Install(engines_, "dcmtk");
      EngineDirectory directory_{std::move(engines_), &FakeEngine::GetClock};
      RecordingObserver observer_;
      std::vector<std::string> asked_;
      Transcoder transcoder_{directory_, &observer_};
    };

    // Inflates to what it was asked to deflate last
    class Deflater : public FakeEngine
    {
    public:
      Deflater() : FakeEngine("dcmtk", {EXPLICIT_LITTLE_ENDIAN, DEFLATED})
      {
      }

      EngineResult Transcode(const void* data, std::size_t size,
                             const TranscodingTarget& target) const noexcept override
      {
        if (target.transferSyntax == DEFLATED)
        {
          inflated_.assign(static_cast<const char*>(data), size);
          return EngineResult::MakeTranscoded(DicomFileBuilder::FileMeta(DEFLATED) + "\3\0");
        }

        const bool isDeflated = DescribeImage(data, size).isDeflated;
        return isDeflated ? FakeEngine::Transcode(inflated_.data(), inflated_.size(), target)
                          : FakeEngine::Transcode(data, size, target);
      }

    private:
      mutable std::string inflated_;
    };

    std::string GetSyntax(const std::string& file)
    {
      return ReceivedFile(file).image.transferSyntax;
    }

    std::string GetUid(const std::string& file)
    {
      return ReceivedFile(file).identity.GetSopInstanceUid();
    }

    using Texts = std::vector<std::string>;
  }

  TEST_F(TranscoderTest, IncomingInstancesBecomeWhatTheSettingsSay)
  {
    const Transcoding transcoding = Send(source_);
    EXPECT_EQ(Outcome::Transcoded, transcoding.report.outcome);
    EXPECT_EQ("native", transcoding.report.engine);
    EXPECT_EQ(JPEG_LOSSLESS, transcoding.report.target);
    EXPECT_EQ("", transcoding.report.reason);
    EXPECT_EQ(source_.size(), transcoding.report.sourceSize);
    EXPECT_EQ(transcoding.file.size(), transcoding.report.targetSize);
    EXPECT_GT(transcoding.report.duration.count(), 0);
    EXPECT_EQ(0, transcoding.report.verification.count());
    EXPECT_EQ(JPEG_LOSSLESS, GetSyntax(transcoding.file));
    EXPECT_EQ(GetUid(source_), GetUid(transcoding.file));

    Set(RLE, EngineChoice::Dcmtk);  // take effect with the next instance
    EXPECT_EQ(RLE, GetSyntax(Send(source_).file));
    EXPECT_EQ((Texts{"native:transcoded", "dcmtk:transcoded"}), observer_.texts_);
    Set("");
    EXPECT_EQ("", transcoder_.GetSettings()->transferSyntax);
    EXPECT_EQ(Outcome::Unneeded, Send(source_).report.outcome);
  }

  TEST_F(TranscoderTest, WhatNeedsNoTranscodingOrIsCompressedIsLeftAloneUnlessTheSettingsSaySo)
  {
    const std::string dataSet = DicomFileBuilder().Identifiers().GetBytes();
    const std::string compressed = Send(source_).file;
    const std::string deflated = DicomFileBuilder::FileMeta(DEFLATED) + "\3\0";
    int calls = native_->GetCalls();
    ExpectLeftAlone(Send(compressed), Outcome::Unneeded, "in the target already");
    ExpectLeftAlone(Send(DicomFileBuilder::FileMeta(EXPLICIT_LITTLE_ENDIAN) + dataSet),
                    Outcome::Unneeded, "no pixel data");
    ExpectLeftAlone(Send(DicomFileBuilder::FileMeta("1.2.840.10008.1.2.4.100") + dataSet),
                    Outcome::Unneeded, "a video");

    for (const char* const target : {RLE, EXPLICIT_LITTLE_ENDIAN, JPEG_BASELINE})
    {
      Set(target);
      ExpectLeftAlone(Send(compressed), Outcome::Unneeded, "compressed already");
      ExpectLeftAlone(Send(deflated), Outcome::Unneeded, "compressed already");
      EXPECT_EQ(calls, native_->GetCalls());

      Set(target, EngineChoice::Automatic, false, true);
      const std::string large =
          SetElement(compressed, IMAGE_COMMENTS, "LT", std::string(2000, 'x'));
      EXPECT_EQ(target, GetSyntax(Send(large).file));
      ExpectLeftAlone(Send(deflated), Outcome::Declined, "deflated, which is not transcoded");
      ExpectLeftAlone(Ask(deflated, {RLE}), Outcome::Declined, "deflated, which is not transcoded");
      calls = native_->GetCalls();
    }
  }

  TEST_F(TranscoderTest, WhatTheStoreHasAndKeepsIsNotShownToEngines)
  {
    ExpectLeftAlone(SendAgain(source_), Outcome::Duplicate,
                    "stored already, and OverwriteInstances is off");
    EXPECT_EQ(Texts{":duplicate"}, observer_.texts_);
    EXPECT_EQ(Texts{ReceivedFile(source_).identity.GetInstanceId()}, asked_);

    // It is not asked for what needs no transcoding, or would be stored beside what it is made of
    asked_.clear();
    Set(EXPLICIT_LITTLE_ENDIAN);
    EXPECT_EQ(Outcome::Unneeded, SendAgain(source_).report.outcome);
    Set(JPEG_BASELINE);
    EXPECT_EQ(Outcome::Transcoded, SendAgain(source_).report.outcome);
    EXPECT_EQ(Texts{}, asked_);
  }

  TEST_F(TranscoderTest, AStoreThatAnswersSlowlyTakesNoTimeOfTheEngines)
  {
    Transcoder hasty(directory_, &observer_, std::chrono::milliseconds(500));
    hasty.SetSettings(MakeSettings(JPEG_LOSSLESS));
    const auto isDuplicate = [](const InstanceIdentity&)
    {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return false;
    };
    const Transcoding transcoding = hasty.TranscodeIncoming(ReceivedFile(source_), isDuplicate);
    EXPECT_EQ(Outcome::Transcoded, transcoding.report.outcome) << transcoding.report.reason;
  }

  TEST_F(TranscoderTest, LosslessCompressionNeverStoresMoreThanWhatCame)
  {
    const std::string small = MakeSampleImage({});
    ExpectLeftAlone(Send(small), Outcome::Declined, "larger than what came");
    EXPECT_EQ(Texts{"native:declined"}, observer_.texts_);  // the next one would do no better
    Set(RLE, EngineChoice::Dcmtk);
    ExpectLeftAlone(Send(small), Outcome::Declined, "larger than what came");

    // What is not asked for because of its size
    EXPECT_EQ(RLE, GetSyntax(Ask(small, {RLE}).file));
    Set(JPEG_BASELINE);
    EXPECT_EQ(JPEG_BASELINE, GetSyntax(Send(small).file));
    Set(EXPLICIT_LITTLE_ENDIAN, EngineChoice::Automatic, false, true);
    EXPECT_EQ(EXPLICIT_LITTLE_ENDIAN, GetSyntax(Send(Ask(source_, {RLE}).file).file));

    // It is no fault of the engine, which comes first again
    dcmtk_->Fails("crashed");
    Set(RLE);
    ExpectLeftAlone(Send(small), Outcome::Declined, "larger than what came");
    ExpectLeftAlone(Send(small), Outcome::Declined, "larger than what came");
    EXPECT_EQ("native:declined", observer_.texts_.back());
    EXPECT_EQ("native", Send(source_).report.engine);
  }

  TEST_F(TranscoderTest, WhatIsNotAsTheStandardWantsItIsNotShownToEngines)
  {
    constexpr const char* SIGNED = "a digital signature, which would not hold any more";
    const std::string isSigned =
        source_ + DicomFileBuilder().Header(0xfffafffa, "SQ", 0).GetBytes();
    const std::string noFrames = SetElement(source_, 0x00280008, "IS", "0");
    const std::string noSyntax =
        EditFile(source_, [](DataSetEditor& editor) { editor.Remove(0x00020010); });

    // Orthanc reads VRs that are none, and File Meta Information that is longer than it says
    std::string malformed = source_;
    malformed.replace(malformed.find("ORIGINAL") - 4, 2, "  ");
    std::string tooLong = source_;
    tooLong[140] = static_cast<char>(tooLong[140] - 8);

    const std::string noPixels = DicomFileBuilder().Identifiers().AsFile();
    const int calls = native_->GetCalls();
    const std::tuple<std::string, Outcome, const char*> cases[] = {
        {"nonsense", Outcome::Unneeded, "not DICOM"},
        {"", Outcome::Unneeded, "not DICOM"},
        {source_.substr(0, 800), Outcome::Unneeded, "the DICOM file is truncated"},
        {malformed, Outcome::Declined, "the DICOM file is malformed"},
        {tooLong, Outcome::Declined, "the DICOM file is malformed"},
        {isSigned, Outcome::Declined, SIGNED},
        {noFrames, Outcome::Declined, "Number of Frames is zero, or can't be read"}};

    for (const EngineChoice choice : {EngineChoice::Automatic, EngineChoice::Native})
    {
      Set(JPEG_LOSSLESS, choice);
      observer_.texts_.clear();

      for (const auto& [file, outcome, reason] : cases)
      {
        ExpectLeftAlone(Send(file), outcome, reason);
      }

      EXPECT_EQ(Texts(4, ":declined"), observer_.texts_);  // Orthanc refuses the others
      ExpectLeftAlone(Ask("nonsense", {RLE}), Outcome::Declined, "not DICOM");
      ExpectLeftAlone(Ask(isSigned, {"1.2.840.10008.1.2", JPEG_LOSSLESS}), Outcome::Declined,
                      SIGNED);
      ExpectLeftAlone(Ask(noPixels, {JPEG_LOSSLESS}), Outcome::Declined,
                      "no Pixel Data to compress");
      EXPECT_EQ(Texts(8, ":declined"), observer_.texts_);  // one for each target

      for (const std::string& file : {source_.substr(132), noSyntax})
      {
        const Transcoding transcoding = Send(file);
        EXPECT_EQ(Outcome::Declined, transcoding.report.outcome);
        EXPECT_EQ("", transcoding.report.engine);
      }
    }

    EXPECT_EQ(calls, native_->GetCalls());
  }

  TEST_F(TranscoderTest, UnderAutoTheNextEngineTakesOverAndTheOneThatFailedComesLast)
  {
    native_->Fails("crashed");
    const Transcoding transcoding = Send(source_);
    EXPECT_EQ(Outcome::Transcoded, transcoding.report.outcome);
    EXPECT_EQ("dcmtk", transcoding.report.engine);
    EXPECT_EQ("", transcoding.report.reason);
    Send(source_);
    native_->result = {};
    dcmtk_->Fails("crashed");
    EXPECT_EQ("native", Send(source_).report.engine);
    EXPECT_EQ((Texts{"native:failed", "dcmtk:transcoded", "dcmtk:transcoded", "dcmtk:failed",
                     "native:transcoded"}),
              observer_.texts_);
  }

  TEST_F(TranscoderTest, WhenAllEnginesFailAllAreNamed)
  {
    native_->Fails("crashed");
    dcmtk_->Declines("12 bits");
    ExpectLeftAlone(Send(source_), Outcome::Failed, "native: crashed; dcmtk: 12 bits");
    native_->Declines("three samples");
    ExpectLeftAlone(Send(source_), Outcome::Declined,
                    "dcmtk: 12 bits; native: three samples");  // which had failed
  }

  TEST_F(TranscoderTest, ATimeOutEndsVerificationAndTheAttemptsAtAllTargets)
  {
    Transcoder impatient(directory_, &observer_, std::chrono::milliseconds(20));
    impatient.SetSettings(MakeSettings(JPEG_LOSSLESS, EngineChoice::Native, true));
    dcmtk_->isHanging = true;
    const TimePoint start = Clock::now();
    impatient.TranscodeIncoming(ReceivedFile(source_));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));

    const int calls = dcmtk_->GetCalls();
    observer_.texts_.clear();
    native_->isHanging = true;
    impatient.SetSettings(MakeSettings(JPEG_LOSSLESS));
    ExpectLeftAlone(impatient.TranscodeIncoming(ReceivedFile(source_)), Outcome::Failed,
                    "native: did not answer in time");
    impatient.TranscodeTo(ReceivedFile(source_), {RLE, JPEG_LOSSLESS});
    EXPECT_EQ(calls, dcmtk_->GetCalls());
    EXPECT_EQ((Texts{"native:failed", "native:failed"}), observer_.texts_);
    impatient.TranscodeIncoming(ReceivedFile(source_));
    EXPECT_EQ("dcmtk:", observer_.texts_.at(2).substr(0, 6));  // the other one comes last
  }

#if !defined(PERF_SANITIZED)
  TEST_F(TranscoderTest, WithoutMemoryTheInstanceStaysWhatItIs)
  {
    struct Counter : ITranscodingObserver
    {
      void OnTranscoding(const TranscodingReport& report) noexcept override
      {
        failed += report.outcome == Outcome::Failed ? 1 : 0;
      }

      int failed = 0;
    } counter;

    Transcoder transcoder(directory_, &counter);
    transcoder.SetSettings(MakeSettings(JPEG_LOSSLESS));
    const ReceivedFile file(source_);
    Transcoding transcoding;

    {
      const NoMemory noMemory;
      transcoding = transcoder.TranscodeIncoming(file);
    }

    ExpectLeftAlone(transcoding, Outcome::Failed, "No memory");
    EXPECT_EQ(1, counter.failed);
  }
#endif

  TEST_F(TranscoderTest, AChosenEngineIsTheOnlyOneAndNamedIfItIsNotThere)
  {
    native_->Declines("12 bits");

    for (const auto& [choice, target, engine, reason] :
         {std::tuple(EngineChoice::Native, JPEG_LOSSLESS, "native", "12 bits"),
          std::tuple(EngineChoice::Gdcm, JPEG_LOSSLESS, "gdcm", "there is no such engine"),
          std::tuple(EngineChoice::Dcmtk, JPEG_LS, "dcmtk", "does not write this transfer syntax"),
          std::tuple(EngineChoice::Automatic, JPEG_LS, "",
                     "no engine writes this transfer syntax")})
    {
      Set(target, choice);
      const Transcoding transcoding = Send(source_);
      ExpectLeftAlone(transcoding, Outcome::Declined, reason);
      EXPECT_EQ(engine, transcoding.report.engine);
    }

    EXPECT_EQ((Texts{"native:declined", "gdcm:declined", "dcmtk:declined", ":declined"}),
              observer_.texts_);
  }

  TEST_F(TranscoderTest, WhatCantReplaceTheOriginalIsStoredAsReceived)
  {
    Set(JPEG_LOSSLESS, EngineChoice::Native);
    const auto expect = [this](DicomTag tag, const char* representation, const std::string& value,
                               Outcome outcome, const char* reason)
    {
      native_->Changes(
          [&](DataSetEditor& editor)
          {
            editor.Remove(IMAGE_COMMENTS);
            editor.Set(tag, representation, value);
          });
      ExpectLeftAlone(Send(source_), outcome, reason);
    };
    expect(0x00080018, "UI", "1.2", Outcome::Failed, "wrote another SOP Instance UID");
    expect(0x00280102, "US", MakeNumber(15), Outcome::Declined,
           "wrote another image: High Bit is 15 instead of 7");

    for (const DicomTag tag : {0x00100020, 0x0020000d, 0x0020000e})
    {
      expect(tag, "LO", "1.2", Outcome::Declined, "Orthanc would give it other identifiers");
    }

    native_->Writes(source_);
    ExpectLeftAlone(Send(source_), Outcome::Failed,
                    "wrote another transfer syntax than was asked for");
    native_->Writes(source_.substr(0, 900));
    ExpectLeftAlone(Send(source_), Outcome::Failed,
                    "wrote an unreadable file: the DICOM file is truncated");
  }

  TEST_F(TranscoderTest, VerificationFindsWrongPixelsAndTheNextEngineTakesOver)
  {
    native_->mask = 1;
    Set(JPEG_LOSSLESS, EngineChoice::Automatic, true);
    const Transcoding transcoding = Send(source_);
    EXPECT_EQ("dcmtk", transcoding.report.engine);
    EXPECT_EQ((Texts{"native:failed", "dcmtk:transcoded"}), observer_.texts_);
    EXPECT_GT(transcoding.report.verification.count(), 0);

    Set(JPEG_LOSSLESS, EngineChoice::Native, true);
    ExpectLeftAlone(Send(source_), Outcome::Failed,
                    "verification failed: dcmtk decodes: the pixels differ");
  }

  TEST_F(TranscoderTest, WhatIsSentAgainIsTheSameLossyInstanceWhicheverEngineWritesIt)
  {
    dcmtk_->mask = 1;
    Set(JPEG_BASELINE, EngineChoice::Native);
    const std::string first = Send(source_).file;
    Set(JPEG_BASELINE, EngineChoice::Dcmtk);
    const std::string second = Send(source_).file;
    EXPECT_NE(first, second);
    EXPECT_EQ(GetUid(first), GetUid(second));
    EXPECT_NE(GetUid(source_), GetUid(second));

    IngestTranscoding settings = MakeSettings(JPEG_BASELINE);
    settings.lossyQuality = 50;
    transcoder_.SetSettings(settings);
    EXPECT_NE(GetUid(first), GetUid(Send(source_).file));
  }

  TEST_F(TranscoderTest, WhatOrthancAsksForIsDoneWithoutLossOnly)
  {
    EXPECT_EQ(RLE, GetSyntax(Ask(source_, {JPEG_BASELINE, JPEG_LS, RLE, JPEG_LOSSLESS}).file));
    ExpectLeftAlone(Ask(source_, {JPEG_BASELINE}), Outcome::Declined,
                    "none of the transfer syntaxes can be written");
    ExpectLeftAlone(Ask(source_, {RLE, EXPLICIT_LITTLE_ENDIAN}), Outcome::Unneeded,
                    "in one of the targets already");
  }

  TEST_F(TranscoderTest, WhatWouldHaveOtherIdentifiersIsStoredAsReceivedInsteadOfDeflated)
  {
    Engines installed;
    installed.push_back(std::make_unique<Deflater>());
    auto& deflater = static_cast<Deflater&>(*installed[0]);
    EngineDirectory directory(std::move(installed));
    directory.TestAll();
    Transcoder transcoder(directory, nullptr);
    transcoder.SetSettings(MakeSettings(DEFLATED, EngineChoice::Dcmtk));

    const auto send = [&](DicomTag tag)
    {
      deflater.Changes([tag](DataSetEditor& editor) { editor.Set(tag, "LO", "1.2"); });
      return transcoder.TranscodeIncoming(ReceivedFile(source_));
    };

    EXPECT_EQ(DEFLATED, GetSyntax(send(IMAGE_COMMENTS).file));

    for (const DicomTag tag : {0x00100020, 0x0020000d, 0x0020000e, 0x00080018})
    {
      ExpectLeftAlone(send(tag), Outcome::Declined, "Orthanc would give it other identifiers");
    }
  }

  TEST_F(TranscoderTest, SettingsMayChangeWhileOthersTranscode)
  {
    constexpr int THREADS = 3;
    std::atomic<int> running{THREADS};
    std::atomic<int> wrong{0};
    const auto transcode = [&](int)
    {
      for (int instance = 0; instance < 100; instance++)
      {
        const Transcoding transcoding = Send(source_);
        const bool isRight = transcoding.report.outcome == Outcome::Transcoded &&
                             GetSyntax(transcoding.file) == transcoding.report.target;
        wrong += isRight ? 0 : 1;
      }

      running--;
    };
    RunOnThreads(THREADS, transcode,
                 [&]
                 {
                   for (int i = 0; running > 0; i++)
                   {
                     Set(i % 2 == 0 ? RLE : JPEG_LOSSLESS,
                         i % 3 == 0 ? EngineChoice::Automatic : EngineChoice::Native, i % 5 == 0);
                     std::this_thread::yield();
                   }
                 });
    EXPECT_EQ(0, wrong);
  }
}
