// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/RuleTest.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* JPEG_LOSSLESS = "1.2.840.10008.1.2.4.70";
    constexpr const char* JPEG_LS = "1.2.840.10008.1.2.4.80";

    class TranscodingRuleTest : public RuleTest
    {
    protected:
      TranscodingRuleTest()
      {
        evidence_.tuning.ingestTranscoding.transferSyntax = JPEG_LOSSLESS;
        evidence_.tuning.ingestTranscoding.engine = EngineChoice::Dcmtk;
        evidence_.engines = {MakeVerdict("dcmtk", 50e6), MakeVerdict("native", 800e6),
                             MakeVerdict("gdcm", 40e6)};
      }

      static EngineVerdict MakeVerdict(const std::string& engine, double speed)
      {
        return {engine,
                true,
                true,
                "",
                {{JPEG_LS, SyntaxVerdict::State::Works, "", 8000e6},
                 {JPEG_LOSSLESS, SyntaxVerdict::State::Works, "", speed}}};
      }

      static Sample MakeTranscoded(double transcode)
      {
        Sample sample = MakeHealthy();
        sample.phases.emplace_back(Phase::Transcode, transcode);
        return sample;
      }
    };

    // GDCM crashed at JPEG-LS, which the tuning asks for
    class SwitchedOffEngineRuleTest : public RuleTest
    {
    protected:
      SwitchedOffEngineRuleTest()
      {
        settings_.transferSyntax = JPEG_LS;
        evidence_.engines = {{"gdcm",
                              true,
                              true,
                              "",
                              {{JPEG_LS, SyntaxVerdict::State::SwitchedOff, "crashed (SIGSEGV)"},
                               {JPEG_LOSSLESS, SyntaxVerdict::State::Works, ""},
                               {"1.2.840.10008.1.2.4.81", SyntaxVerdict::State::Unsupported, ""}}}};
      }

      IngestTranscoding& settings_ = evidence_.tuning.ingestTranscoding;
    };
  }

  TEST_F(TranscodingRuleTest, ProposesAutoWhereAnotherEngineIsFaster)
  {
    SetTraffic(MakeTranscoded(10));
    const Finding finding = Judge("transcoding", {{"TranscodeShare", 2 / 3.0}, {"Rate", 50e6}});
    EXPECT_EQ("native", finding.evidence["FasterEngine"].asString());
    EXPECT_EQ(EngineChoice::Automatic, Apply(finding).ingestTranscoding.engine)
        << "which asks others for what that one does not cover";
    EXPECT_NEAR(15 / (15 - 10 * (1 - 50.0 / 800)), *finding.cost.gain, 1e-2);
  }

  TEST_F(TranscodingRuleTest, IsSilentWhereNothingIsWon)
  {
    ExpectNothing("transcoding", "little of the time", [this] { SetTraffic(MakeTranscoded(1)); });
    ExpectNothing("transcoding", "too few instances",
                  [this] { SetTraffic(MakeTranscoded(10), FEW); });
    SetTraffic(MakeTranscoded(10));
    ExpectNothing("transcoding", "a little faster",
                  [this] { evidence_.engines[1].syntaxes[1].bytesPerSecond = 60e6; });
    ExpectNothing("transcoding", "switched off",
                  [this]
                  { evidence_.engines[1].syntaxes[1].state = SyntaxVerdict::State::SwitchedOff; });
    ExpectNothing("transcoding", "not available",
                  [this] { evidence_.engines[1].isAvailable = false; });
    ExpectNothing("transcoding", "auto, which chooses",
                  [this] { evidence_.tuning.ingestTranscoding.engine = EngineChoice::Automatic; });
  }

  TEST_F(SwitchedOffEngineRuleTest, NamesEachWithItsReasonOnceItWasTested)
  {
    Finding finding = Judge("engine-switched-off");
    EXPECT_EQ(1U, finding.evidence.size());
    EXPECT_EQ("crashed (SIGSEGV)", finding.evidence["gdcm JPEGLSLossless"].asString());

    EngineVerdict& verdict = evidence_.engines[0];
    verdict = {
        "gdcm", false, false, "not tested yet", {{JPEG_LS, SyntaxVerdict::State::Untested, ""}}};
    EXPECT_FALSE(IsFound("engine-switched-off"));
    verdict.isTested = true;
    verdict.reason = "OrthancPerfGdcm is missing";
    finding = Judge("engine-switched-off");
    EXPECT_EQ("Transcoding engines are switched off: gdcm", finding.title);
    EXPECT_EQ("OrthancPerfGdcm is missing", finding.evidence["gdcm"].asString());
  }

  TEST_F(SwitchedOffEngineRuleTest, IsSilentWhereItIsNotAskedFor)
  {
    ExpectNothing("engine-switched-off", "it works",
                  [this] { evidence_.engines[0].syntaxes[0].state = SyntaxVerdict::State::Works; });
    ExpectNothing("engine-switched-off", "another engine",
                  [this] { settings_.engine = EngineChoice::Dcmtk; });
    settings_.engine = EngineChoice::Gdcm;
    EXPECT_TRUE(IsFound("engine-switched-off"));
    ExpectNothing("engine-switched-off", "another syntax",
                  [this] { settings_.transferSyntax = JPEG_LOSSLESS; });
    settings_.engine = EngineChoice::Automatic;
    settings_.transferSyntax.clear();
    EXPECT_FALSE(IsFound("engine-switched-off"));
    settings_.orthancTranscoding = true;
    EXPECT_TRUE(IsFound("engine-switched-off")) << "Orthanc may ask for any transfer syntax";
  }
}
