// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/SelfTest.h"

#include "Dicom/ImageDescription.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/Verification.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr unsigned int LOSSY_QUALITY = 90;
  }


  SelfTest::SelfTest(std::vector<const ITranscodingEngine*> decoders, Now now) :
    decoders_(std::move(decoders)),
    now_(std::move(now)),
    large_(MakeSampleImage(GetSpeedTestShape()))
  {
    for (const SampleShape& shape : GetSelfTestShapes())
    {
      Sample& sample = samples_.emplace_back();
      sample.name = shape.name;
      sample.file = MakeSampleImage(shape);
      sample.sopInstanceUid = DescribeImage(sample.file.data(), sample.file.size()).sopInstanceUid;
    }
  }


  EngineVerdict SelfTest::TestEngine(const ITranscodingEngine& engine) const
  {
    EngineVerdict verdict;
    verdict.engine = engine.GetName();
    verdict.isTested = true;
    verdict.reason = engine.GetProblem();
    verdict.isAvailable = verdict.reason.empty();

    for (const WritableSyntax& syntax : GetWritableSyntaxes())
    {
      verdict.syntaxes.push_back(
          verdict.isAvailable ? TestSyntax(engine, syntax.uid)
                              : SyntaxVerdict{syntax.uid, SyntaxVerdict::State::Untested, ""});
    }

    return verdict;
  }


  SyntaxVerdict SelfTest::TestSyntax(const ITranscodingEngine& engine,
                                     const std::string& transferSyntax) const
  {
    SyntaxVerdict verdict;
    verdict.transferSyntax = transferSyntax;
    verdict.state = SyntaxVerdict::State::Unsupported;

    if (!engine.CanWrite(transferSyntax))
    {
      return verdict;
    }

    for (const Sample& sample : samples_)
    {
      const EngineResult result =
          engine.Transcode(sample.file.data(), sample.file.size(), {transferSyntax, LOSSY_QUALITY});
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
        verdict.reason = "image of " + sample.name + ": " + problem;
        return verdict;
      }
    }

    if (verdict.state == SyntaxVerdict::State::Works)
    {
      verdict.reason.clear();
      verdict.bytesPerSecond = MeasureSpeed(engine, transferSyntax);
    }

    return verdict;
  }


  // The better of two tries; zero: the engine does not write this image
  double SelfTest::MeasureSpeed(const ITranscodingEngine& engine,
                                const std::string& transferSyntax) const
  {
    constexpr int TRIES = 2;
    double fastest = 0;

    for (int i = 0; i < TRIES; i++)
    {
      const TimePoint begin = now_();
      const EngineResult result =
          engine.Transcode(large_.data(), large_.size(), {transferSyntax, LOSSY_QUALITY});
      const double seconds = ToSeconds(now_() - begin);

      if (result.outcome == TranscodingOutcome::Transcoded && seconds > 0)
      {
        fastest = std::max(fastest, static_cast<double>(large_.size()) / seconds);
      }
    }

    return fastest;
  }


  std::string SelfTest::FindProblem(const ITranscodingEngine& engine, const Sample& sample,
                                    const std::string& transferSyntax,
                                    const std::string& file) const
  {
    std::string problem =
        FindFlaw(CheckDicomFile(file.data(), file.size()), transferSyntax, sample.sopInstanceUid);

    if (!problem.empty())
    {
      return problem;
    }

    // A decoder that is wrong is not the encoder's fault: one that is right is enough
    std::vector<const ITranscodingEngine*> decoders = decoders_;

    if (engine.CanWrite(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN))
    {
      decoders.insert(decoders.begin(), &engine);
    }
    else if (decoders.empty())
    {
      return "";
    }

    const auto quality = IsLossy(transferSyntax) ? std::make_optional(LOSSY_QUALITY) : std::nullopt;
    problem = "no engine decodes what it wrote";

    for (const ITranscodingEngine* const decoder : decoders)
    {
      problem = FindDamage({sample.file.data(), sample.file.size(), file, quality}, {}, {decoder});

      if (problem.empty())
      {
        break;
      }
    }

    return problem;
  }
}
