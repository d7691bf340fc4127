// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_TRANSCODE_SHARE = 0.3;

    // An alternative must be that much faster
    constexpr double FASTER = 1.3;

    // Instances that tell how fast an engine is
    constexpr double MINIMUM_MEASURED = 5;

    // The one engine that is worth a try before it was measured: it is several times as fast as the
    // others with what it covers (Resources/Benchmarks)
    constexpr const char* FAST_ENGINE = "native";


    // What the engine has shown with the target syntax, in bytes a second; 0: not known
    double MeasureRate(const std::string& engine, const Evidence& evidence)
    {
      double rate = 0;

      for (const EngineEvidence& known : evidence.transcoding.engines)
      {
        if (known.engine == engine && known.instances >= MINIMUM_MEASURED && known.seconds > 0 &&
            known.target == evidence.tuning.ingestTranscoding.transferSyntax)
        {
          rate = known.bytes / known.seconds;
        }
      }

      return rate;
    }


    bool CanWriteTarget(const EngineVerdict& engine, const Evidence& evidence)
    {
      const std::string& target = evidence.tuning.ingestTranscoding.transferSyntax;
      return engine.isAvailable && std::any_of(engine.syntaxes.begin(), engine.syntaxes.end(),
                                               [&target](const SyntaxVerdict& syntax) {
                                                 return syntax.transferSyntax == target &&
                                                        syntax.state == SyntaxVerdict::State::Works;
                                               });
    }


    // The remedy is "auto": a named engine is asked alone, and that it is fast with some images
    // does not say that it covers these. What it does not cover would be stored as received.
    std::optional<Judgement> JudgeTranscoding(const Evidence& evidence)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
      const IngestTranscoding& tuning = evidence.tuning.ingestTranscoding;
      const double share = traffic.GetShare(Phase::Transcode);

      if (traffic.instances < MINIMUM_INSTANCES || tuning.engine == EngineChoice::Automatic ||
          share < MINIMUM_TRANSCODE_SHARE)
      {
        return std::nullopt;
      }

      const std::string current = ToLabel(tuning.engine);
      const double rate = MeasureRate(current, evidence);
      const double seconds = traffic.GetSeconds(Phase::Transcode);
      std::string fastest;
      double fastestRate = 0;
      bool isUntried = false;

      for (const EngineVerdict& engine : evidence.transcoding.verdicts)
      {
        const double itsRate = MeasureRate(engine.engine, evidence);

        if (CanWriteTarget(engine, evidence))
        {
          fastest = itsRate > fastestRate ? engine.engine : fastest;
          fastestRate = std::max(itsRate, fastestRate);
          isUntried |= engine.engine == FAST_ENGINE && current != FAST_ENGINE && itsRate == 0;
        }
      }

      Judgement judgement({{"TranscodeShare", share},
                           {"MeanTranscode", traffic.GetMean(Phase::Transcode)},
                           {"Engine", current},
                           {"Rate", rate}},
                          EstimateShare(seconds, traffic), "trial");

      if (rate > 0 && fastestRate > FASTER * rate)
      {
        judgement.variant = "";
        judgement.figures["FasterEngine"] = fastest;
        judgement.figures["FasterRate"] = fastestRate;
        judgement.cost =
            EstimateCost(seconds * (1 - rate / fastestRate), traffic.GetTotalSeconds(), traffic);
        return judgement;
      }

      return isUntried ? std::optional<Judgement>(judgement) : std::nullopt;
    }


    // Engines, or transfer syntaxes of them, that the self-test has switched off
    std::optional<Judgement> JudgeSwitchedOffEngine(const Evidence& evidence)
    {
      Judgement judgement({});
      std::string names;

      for (const EngineVerdict& engine : evidence.transcoding.verdicts)
      {
        const std::size_t before = judgement.figures.size();

        if (engine.isTested && !engine.isAvailable)
        {
          judgement.figures[engine.engine] = engine.reason;
        }

        for (const SyntaxVerdict& syntax : engine.syntaxes)
        {
          const WritableSyntax* const writable = FindWritableSyntax(syntax.transferSyntax);

          if (syntax.state == SyntaxVerdict::State::SwitchedOff && writable != nullptr)
          {
            judgement.figures[engine.engine + " " + writable->name] = syntax.reason;
          }
        }

        if (judgement.figures.size() > before)
        {
          names += (names.empty() ? "" : ", ") + engine.engine;
        }
      }

      judgement.words["Engines"] = names;
      return names.empty() ? std::nullopt : std::optional<Judgement>(judgement);
    }
  }


  std::vector<Rule> MakeTranscodingRules()
  {
    return {{"transcoding", &JudgeTranscoding}, {"engine-switched-off", &JudgeSwitchedOffEngine}};
  }
}
