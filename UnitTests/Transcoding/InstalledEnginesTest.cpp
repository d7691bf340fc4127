// SPDX-License-Identifier: GPL-3.0-or-later
// The engines of the plugin as they are, with their programs
#include "Transcoding/Transcoder.h"

#include "Dicom/TransferSyntax.h"
#include "Redirection/ModuleFolder.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using State = SyntaxVerdict::State;

    // Tested once for all tests here
    EngineDirectory& GetDirectory()
    {
      static const auto directory = []
      {
        auto made = std::make_unique<EngineDirectory>(MakeEngines(GetModuleFolder()));
        made->TestAll();
        return made;
      }();
      return *directory;
    }

    Transcoding Transcode(const std::string& file, const std::string& target, EngineChoice choice)
    {
      IngestTranscoding settings;
      settings.transferSyntax = target;
      settings.engine = choice;
      settings.verify = true;

      Transcoder transcoder(GetDirectory(), nullptr);
      transcoder.SetSettings(settings);
      return FindWritableSyntax(target)->isLossy
                 ? transcoder.TranscodeIncoming(ReceivedFile(file))
                 : transcoder.TranscodeTo(ReceivedFile(file), {target});
    }

    // Three frames
    const SampleShape SHAPES[] = {{"8 bits", 8, 8, false, 1, false, 3},
                                  {"12 bits", 16, 12, false, 1, false, 3},
                                  {"16 bits", 16, 16, true, 1, false, 3},
                                  {"colours", 8, 8, false, 3, false, 3},
                                  {"planes", 8, 8, false, 3, true, 3}};
  }

#if defined(PERF_HAS_DCMTK) && defined(PERF_HAS_GDCM)
  TEST(InstalledEngines, EveryEngineProvesItselfAndEverySyntaxHasOne)
  {
    const std::vector<EngineVerdict> verdicts = GetDirectory().GetVerdicts();
    ASSERT_EQ(3u, verdicts.size());
    EXPECT_EQ(3u, GetDirectory().FindAll(JPEG_LOSSLESS).size());

    for (const EngineVerdict& verdict : verdicts)
    {
      EXPECT_TRUE(verdict.isAvailable) << verdict.engine << ": " << verdict.reason;

      for (const SyntaxVerdict& syntax : verdict.syntaxes)
      {
        EXPECT_NE(State::SwitchedOff, syntax.state)
            << verdict.engine << " " << syntax.transferSyntax << ": " << syntax.reason;
        EXPECT_FALSE(GetDirectory().FindAll(syntax.transferSyntax).empty());
      }
    }
  }

  TEST(InstalledEngines, WhatIsWrittenIsVerifiedByAnotherEngine)
  {
    for (const SampleShape& shape : SHAPES)
    {
      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        for (const EngineChoice choice :
             {EngineChoice::Native, EngineChoice::Dcmtk, EngineChoice::Gdcm})
        {
          const TranscodingReport report =
              Transcode(MakeSampleImage(shape), syntax.uid, choice).report;
          EXPECT_NE(TranscodingOutcome::Failed, report.outcome)
              << ToLabel(choice) << " " << syntax.name << " " << shape.name << ": "
              << report.reason;
        }
      }
    }
  }
#endif

  TEST(InstalledEngines, EnginesWithoutTheirProgramsSaySoAndNativeNeedsNone)
  {
    EngineDirectory directory(MakeEngines("/nonexistent"));
    directory.TestAll();

    for (const EngineVerdict& verdict : directory.GetVerdicts())
    {
      if (verdict.engine == "native")
      {
        EXPECT_TRUE(verdict.isAvailable) << verdict.reason;
      }
      else
      {
        EXPECT_FALSE(verdict.isAvailable);
        EXPECT_EQ(0u, verdict.reason.find("the program OrthancPerf")) << verdict.reason;
        EXPECT_NE(std::string::npos, verdict.reason.find("cannot be started")) << verdict.reason;
      }
    }

    ASSERT_EQ(1u, directory.FindAll(JPEG_LOSSLESS).size());
    const std::string file = MakeSampleImage(SHAPES[1]);
    const TranscodingTarget target = {JPEG_LOSSLESS};
    EXPECT_EQ(TranscodingOutcome::Transcoded, directory.Find("native", JPEG_LOSSLESS)
                                                  ->Transcode(file.data(), file.size(), target)
                                                  .outcome);
  }
}
