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


    // What an engine has shown with the target syntax
    struct Speed
    {
      std::string engine;
      double bytesPerSecond = 0;  // 0: not known
    };


    Speed Measure(const std::string& engine, const Evidence& evidence)
    {
      Speed speed = {engine, 0};

      for (const EngineEvidence& known : evidence.transcoding.engines)
      {
        if (known.engine == engine && known.instances >= MINIMUM_MEASURED && known.seconds > 0 &&
            known.target == evidence.tuning.ingestTranscoding.transferSyntax)
        {
          speed.bytesPerSecond = known.bytes / known.seconds;
        }
      }

      return speed;
    }


    Speed FindFastest(const Evidence& evidence)
    {
      Speed fastest;

      for (const std::string& engine : evidence.transcoding.alternatives)
      {
        const Speed speed = Measure(engine, evidence);
        fastest = speed.bytesPerSecond > fastest.bytesPerSecond ? speed : fastest;
      }

      return fastest;
    }


    bool IsFastEngineUntried(const Evidence& evidence, const std::string& current)
    {
      const std::vector<std::string>& all = evidence.transcoding.alternatives;
      return current != FAST_ENGINE &&
             std::find(all.begin(), all.end(), FAST_ENGINE) != all.end() &&
             Measure(FAST_ENGINE, evidence).bytesPerSecond == 0;
    }


    Finding Describe(const Evidence& evidence, const Speed& current)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
      const double share = traffic.GetShare(Phase::Transcode);

      Finding finding;
      finding.id = "transcoding";
      finding.title = "Transcoding takes " + SayShare(share) + " of the time";
      finding.explanation = "Each image is transcoded before it is stored, by " + current.engine +
                            ", " + SayTime(traffic.GetMean(Phase::Transcode)) + " each.";
      finding.evidence["TranscodeShare"] = share;
      finding.evidence["MeanTranscode"] = traffic.GetMean(Phase::Transcode);
      finding.evidence["Engine"] = current.engine;
      finding.evidence["Rate"] = current.bytesPerSecond;
      return finding;
    }


    // A named engine is asked alone, and that it is fast with some images does not say that it
    // covers these: what it does not cover would be stored as received
    Remedy LetAutoChoose()
    {
      return Remedy::Tune(MakeOption("IngestTranscoding", "Engine", "auto"),
                          "Let \"auto\" choose: it measures all engines that can do it, with your "
                          "images, and keeps to the fastest.");
    }


    Finding ProposeFaster(const Evidence& evidence, const Speed& current, const Speed& best)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
      const double lost =
          traffic.GetSeconds(Phase::Transcode) * (1 - current.bytesPerSecond / best.bytesPerSecond);

      Finding finding = Describe(evidence, current);
      finding.explanation += " " + best.engine + " has shown " + SaySize(best.bytesPerSecond) +
                             "/s with this transfer syntax on this machine, " + current.engine +
                             " shows " + SaySize(current.bytesPerSecond) + "/s.";
      finding.evidence["FasterEngine"] = best.engine;
      finding.evidence["FasterRate"] = best.bytesPerSecond;
      finding.cost = EstimateCost(lost, traffic.GetTotalSeconds(), traffic);
      finding.remedy = LetAutoChoose();
      return finding;
    }


    Finding ProposeTrial(const Evidence& evidence, const Speed& current)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);

      Finding finding = Describe(evidence, current);
      finding.explanation += std::string(" The engine \"") + FAST_ENGINE +
                             "\" writes this transfer syntax too, several times as fast as others "
                             "with the images that it covers.";
      finding.cost = EstimateShare(traffic.GetSeconds(Phase::Transcode), traffic);
      finding.remedy = LetAutoChoose();
      return finding;
    }
  }


  std::optional<Finding> JudgeTranscoding(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const IngestTranscoding& tuning = evidence.tuning.ingestTranscoding;

    if (traffic.instances < MINIMUM_INSTANCES || tuning.engine == EngineChoice::Automatic ||
        traffic.GetShare(Phase::Transcode) < MINIMUM_TRANSCODE_SHARE)
    {
      return std::nullopt;
    }

    const Speed current = Measure(ToLabel(tuning.engine), evidence);
    const Speed best = FindFastest(evidence);

    if (current.bytesPerSecond > 0 && best.bytesPerSecond > FASTER * current.bytesPerSecond)
    {
      return ProposeFaster(evidence, current, best);
    }

    return IsFastEngineUntried(evidence, current.engine)
               ? std::optional<Finding>(ProposeTrial(evidence, current))
               : std::nullopt;
  }


  namespace
  {
    // "gdcm", "gdcm JPEG-LS"
    std::string GetName(const SwitchedOffEngine& off)
    {
      const WritableSyntax* const syntax = FindWritableSyntax(off.transferSyntax);
      return syntax == nullptr ? off.engine : off.engine + " " + syntax->name;
    }


    // Each once
    std::string ListEngines(const std::vector<SwitchedOffEngine>& engines)
    {
      std::string names;

      for (std::size_t i = 0; i < engines.size(); i++)
      {
        if (i == 0 || engines[i].engine != engines[i - 1].engine)
        {
          names += (i == 0 ? "" : ", ") + engines[i].engine;
        }
      }

      return names;
    }
  }


  std::optional<Finding> JudgeSwitchedOffEngine(const Evidence& evidence)
  {
    const std::vector<SwitchedOffEngine>& engines = evidence.transcoding.switchedOff;

    if (engines.empty())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "engine-switched-off";
    finding.title = "Transcoding engines failed their self-test: " + ListEngines(engines);
    finding.explanation =
        "When Orthanc starts, each engine writes each transfer syntax once, in a process of its "
        "own. An engine whose program is missing or does not start is not used, nor is a transfer "
        "syntax at which it crashed, hung or gave wrong pixels. Where the tuning names that "
        "engine, instances are stored as received; \"auto\" takes another one.";
    finding.remedy = Remedy::ChangeSystem(
        "Install the plugin's programs OrthancPerfDcmtk and OrthancPerfGdcm beside "
        "libOrthancPerf.so, with the DCMTK and GDCM libraries that they were built for, and "
        "restart Orthanc. /perf/status has the verdict on every engine and transfer syntax.");

    for (const SwitchedOffEngine& off : engines)
    {
      finding.evidence[GetName(off)] = off.reason;
    }

    return finding;
  }
}
