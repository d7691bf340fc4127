// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_TRANSCODE_SHARE = 0.3;

    // An alternative must be that much faster
    constexpr double FASTER = 1.3;


    class TranscodingRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
        const double share = traffic.GetShare(Phase::Transcode);
        const EngineEvidence* const current = FindCurrent(evidence);

        if (traffic.instances < MINIMUM_INSTANCES || share < MINIMUM_TRANSCODE_SHARE ||
            current == nullptr)
        {
          return std::nullopt;
        }

        const double speed = current->bytes / current->seconds;
        const TranscodingEvidence::Alternative* const best = FindBest(evidence);

        if (best == nullptr || best->engine == current->engine ||
            best->bytesPerSecond < FASTER * speed)
        {
          return std::nullopt;
        }

        const double lost =
            traffic.GetSeconds(Phase::Transcode) * (1 - speed / best->bytesPerSecond);

        Finding finding;
        finding.id = "transcoding";
        finding.title = "Transcoding takes " + SayShare(share) + " of the time, and " +
                        best->engine + " would be faster";
        finding.explanation = "Each image is transcoded before it is stored, by " +
                              current->engine + " at " + SaySize(speed) + "/s. " + best->engine +
                              " has shown " + SaySize(best->bytesPerSecond) +
                              "/s with the same transfer syntax, on this machine.";
        finding.evidence["TranscodeShare"] = share;
        finding.evidence["MeanTranscode"] = traffic.GetMean(Phase::Transcode);
        finding.evidence["Engine"] = current->engine;
        finding.evidence["Rate"] = speed;
        finding.evidence["FasterEngine"] = best->engine;
        finding.evidence["FasterRate"] = best->bytesPerSecond;
        finding.cost =
            EstimateCost(lost, traffic.GetTotalSeconds(), evidence.GetTotal(Direction::Receive));
        finding.remedy =
            Remedy::Tune(MakeOption("IngestTranscoding", "Engine", best->engine),
                         "Let " + best->engine + " transcode, from the next image on.");
        return finding;
      }

    private:
      // The engine that has done most of the work lately; null: none
      static const EngineEvidence* FindCurrent(const Evidence& evidence)
      {
        const std::string& target = evidence.tuning.ingestTranscoding.transferSyntax;
        const EngineEvidence* current = nullptr;

        for (const EngineEvidence& engine : evidence.transcoding.engines)
        {
          if (engine.target == target && engine.seconds > 0 &&
              (current == nullptr || engine.instances > current->instances))
          {
            current = &engine;
          }
        }

        return current;
      }


      static const TranscodingEvidence::Alternative* FindBest(const Evidence& evidence)
      {
        const auto& all = evidence.transcoding.alternatives;
        const auto best = std::max_element(all.begin(), all.end(),
                                           [](const auto& a, const auto& b)
                                           { return a.bytesPerSecond < b.bytesPerSecond; });
        return best == all.end() ? nullptr : &*best;
      }
    };
  }


  std::unique_ptr<IRule> MakeTranscodingRule()
  {
    return std::make_unique<TranscodingRule>();
  }
}
