// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rule.h"
#include "Dicom/TransferSyntax.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_TRANSCODE_SHARE = 0.3;

    // An alternative must be that much faster
    constexpr double FASTER = 1.3;

    // Bytes a second that the engine took for the target of the tuning in its self-test, of an
    // image of a usual size; 0: it does not write it
    double GetSpeed(const EngineVerdict& engine, const Evidence& evidence)
    {
      for (const SyntaxVerdict& syntax : engine.syntaxes)
      {
        if (syntax.transferSyntax == evidence.tuning.ingestTranscoding.transferSyntax)
        {
          return engine.isAvailable && syntax.state == SyntaxVerdict::State::Works
                     ? syntax.bytesPerSecond
                     : 0;
        }
      }

      return 0;
    }

    // The remedy is "auto": a named engine is asked alone, and that it is fast with one image does
    // not say that it covers these. What it does not cover would be stored as received.
    std::optional<Judgement> JudgeTranscoding(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const std::string current = ToLabel(evidence.tuning.ingestTranscoding.engine);
      const double share = traffic.GetShare(Phase::Transcode);
      double speed = 0;  // stays 0 for "auto", which is no engine
      double fastest = 0;
      std::string name;

      for (const EngineVerdict& engine : evidence.engines)
      {
        const double itsSpeed = GetSpeed(engine, evidence);
        speed = engine.engine == current ? itsSpeed : speed;
        name = itsSpeed > fastest ? engine.engine : name;
        fastest = std::max(itsSpeed, fastest);
      }

      const double lost = traffic.GetSeconds(Phase::Transcode) * (1 - speed / fastest);
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && share >= MINIMUM_TRANSCODE_SHARE &&
                         speed > 0 && fastest >= FASTER * speed,
                     {{"TranscodeShare", share},
                      {"MeanTranscode", traffic.GetMean(Phase::Transcode)},
                      {"Engine", current},
                      {"Rate", speed},
                      {"FasterEngine", name},
                      {"FasterRate", fastest}},
                     EstimateCost(lost, traffic.GetTotalSeconds(), traffic));
    }

    // Engines, or transfer syntaxes of them, that the tuning asks for and the self-test has
    // switched off. Orthanc's own requests may have any transfer syntax.
    std::optional<Judgement> JudgeSwitchedOffEngine(const Evidence& evidence)
    {
      const IngestTranscoding& tuning = evidence.tuning.ingestTranscoding;
      const bool isAny = tuning.engine == EngineChoice::Automatic;
      Judgement judgement({});
      std::string names;

      if (tuning.transferSyntax.empty() && !tuning.orthancTranscoding)
      {
        return std::nullopt;
      }

      for (const EngineVerdict& engine : evidence.engines)
      {
        const std::size_t before = judgement.figures.size();

        if (!isAny && engine.engine != ToLabel(tuning.engine))
        {
          continue;
        }

        if (engine.isTested && !engine.isAvailable)
        {
          judgement.figures[engine.engine] = engine.reason;
        }

        for (const SyntaxVerdict& syntax : engine.syntaxes)
        {
          const bool isWanted = syntax.transferSyntax == tuning.transferSyntax ||
                                (tuning.orthancTranscoding && !IsLossy(syntax.transferSyntax));

          if (syntax.state == SyntaxVerdict::State::SwitchedOff && isWanted)
          {
            judgement.figures[engine.engine + " " + GetSyntaxName(syntax.transferSyntax)] =
                syntax.reason;
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
