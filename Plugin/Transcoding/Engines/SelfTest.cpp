// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/Verification.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace OrthancPerf
{
  namespace
  {
    constexpr unsigned int LOSSY_QUALITY = 90;

    // The images are tiny: what takes seconds, with the start of a process, never ends
    constexpr std::chrono::seconds PATIENCE{5};

    EngineResult Transcode(const ITranscodingEngine& engine, const std::string& file,
                           const std::string& transferSyntax)
    {
      return AskEngine(engine, DescribeImage(file.data(), file.size()), file,
                       {transferSyntax, LOSSY_QUALITY, Clock::now() + PATIENCE});
    }

    // What is wrong with "file", which the engine made of the sample; empty: nothing
    std::string FindProblem(const ITranscodingEngine& engine, const std::string& sample,
                            const std::string& transferSyntax, const std::string& file)
    {
      const ReceivedFile source(sample);
      const ReceivedFile result(file);
      std::string flaw = FindFlaw(result, transferSyntax, source.identity.GetSopInstanceUid());

      if (!flaw.empty() ||
          Transcode(engine, sample, TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN).outcome ==
              TranscodingOutcome::Declined)
      {
        return flaw;
      }

      const auto quality =
          IsLossy(transferSyntax) ? std::make_optional(LOSSY_QUALITY) : std::nullopt;
      return FindDamage({source, result, quality, Clock::now() + PATIENCE}, {}, {&engine});
    }

    // The better of two tries; zero: the engine does not write this image
    double MeasureSpeed(const ITranscodingEngine& engine, const std::string& transferSyntax,
                        const EngineDirectory::Now& now)
    {
      constexpr int TRIES = 2;
      const std::string large = MakeSampleImage(GetSpeedTestShape());
      double fastest = 0;

      for (int i = 0; i < TRIES; i++)
      {
        const TimePoint begin = now();
        const EngineResult result = Transcode(engine, large, transferSyntax);
        const double seconds = ToSeconds(now() - begin);

        if (result.outcome == TranscodingOutcome::Transcoded && seconds > 0)
        {
          fastest = std::max(fastest, static_cast<double>(large.size()) / seconds);
        }
      }

      return fastest;
    }
  }

  EngineVerdict TestEngine(const ITranscodingEngine& engine, const EngineDirectory::Now& now)
  {
    EngineVerdict verdict;
    verdict.engine = engine.GetName();
    verdict.isTested = true;
    verdict.reason = engine.GetProblem();
    verdict.isAvailable = verdict.reason.empty();

    for (const TransferSyntax& syntax : GetWritableSyntaxes())
    {
      verdict.syntaxes.push_back(
          verdict.isAvailable ? TestSyntax(engine, syntax.uid, now)
                              : SyntaxVerdict{syntax.uid, SyntaxVerdict::State::Untested, ""});
    }

    return verdict;
  }

  SyntaxVerdict TestSyntax(const ITranscodingEngine& engine, const std::string& transferSyntax,
                           const EngineDirectory::Now& now)
  {
    SyntaxVerdict verdict;
    verdict.transferSyntax = transferSyntax;
    verdict.state = SyntaxVerdict::State::Unsupported;

    for (const SampleShape& shape : GetSelfTestShapes())
    {
      const std::string sample = MakeSampleImage(shape);
      const EngineResult result = Transcode(engine, sample, transferSyntax);
      std::string problem = result.reason;

      if (result.outcome == TranscodingOutcome::Transcoded)
      {
        problem = FindProblem(engine, sample, transferSyntax, result.file);
      }

      if (result.outcome == TranscodingOutcome::Declined)
      {
        verdict.reason = problem;  // the last one, if all are declined
      }
      else if (problem.empty())
      {
        verdict.state = SyntaxVerdict::State::Works;
      }
      else
      {
        verdict.state = SyntaxVerdict::State::SwitchedOff;
        verdict.reason = std::string("image of ") + shape.name + ": " + problem;
        return verdict;
      }
    }

    if (verdict.state == SyntaxVerdict::State::Works)
    {
      verdict.reason.clear();
      verdict.bytesPerSecond = MeasureSpeed(engine, transferSyntax, now);
    }

    return verdict;
  }
}
