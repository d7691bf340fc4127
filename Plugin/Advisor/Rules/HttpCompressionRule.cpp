// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // An answer of some hundred bytes takes 0.2 to 1 ms, compressed 0.3 ms more; report 002 saw 7
    // ms
    constexpr double SLOW_RESPONSE = 0.002;

    constexpr double MINIMUM_RESPONSE_SHARE = 0.15;


    class HttpCompressionRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const TrafficSums& traffic = evidence.GetOrigin(Origin::RestApi);
        const double mean = traffic.GetMean(Phase::Respond);
        const double share = traffic.GetShare(Phase::Respond);

        if (!evidence.facts.IsOn("HttpCompressionEnabled", false) ||
            traffic.instances < MINIMUM_INSTANCES || mean < SLOW_RESPONSE ||
            share < MINIMUM_RESPONSE_SHARE)
        {
          return std::nullopt;
        }

        Finding finding;
        finding.id = "http-compression";
        finding.title = "Answers to uploads are compressed, which takes " + SayTime(mean);
        finding.explanation =
            "After each upload, Orthanc compresses an answer of some hundred bytes, because the "
            "client says that it takes gzip and \"HttpCompressionEnabled\" is on. That takes "
            "longer "
            "than to send it as it is.";
        finding.evidence["MeanRespond"] = mean;
        finding.evidence["RespondShare"] = share;
        finding.cost = EstimateCost(traffic.GetSeconds(Phase::Respond), traffic.GetTotalSeconds(),
                                    evidence.GetTotal(Direction::Receive));
        finding.remedy = Remedy::Configure(
            MakeOption("HttpCompressionEnabled", false),
            "Switch it off; viewers over a slow line may profit from a reverse proxy that "
            "compresses large answers only. Or let the uploading client not ask for it (no header "
            "Accept-Encoding).");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeHttpCompressionRule()
  {
    return std::make_unique<HttpCompressionRule>();
  }
}
