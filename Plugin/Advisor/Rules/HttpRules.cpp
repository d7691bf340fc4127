// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // An answer of some hundred bytes takes 0.2 ms; to compress it was measured to take less than
    // 0.1 ms of that (report 002's 7 ms go on until the client's next request)
    constexpr double SLOW_RESPONSE = 0.005;

    constexpr double MINIMUM_RESPONSE_SHARE = 0.20;

    // Since then it is off unless it is asked for, and answers below 2 kB are never compressed
    // (Orthanc's NEWS; HttpOutput::GetPreferredCompression)
    constexpr OrthancRelease COMPRESSES_NO_SMALL_ANSWERS = {1, 12, 2};


    bool CompressesSmallAnswers(const ServerFacts& facts)
    {
      return facts.IsOlderThan(COMPRESSES_NO_SMALL_ANSWERS) &&
             facts.IsOn("HttpCompressionEnabled", true);
    }
  }


  std::optional<Finding> JudgeHttpCompression(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetOrigin(Origin::RestApi);
    const double mean = traffic.GetMean(Phase::Respond);
    const double share = traffic.GetShare(Phase::Respond);

    // Where the processor is short, everything takes long
    if (!CompressesSmallAnswers(evidence.facts) || traffic.instances < MINIMUM_INSTANCES ||
        evidence.starved.instances >= MINIMUM_INSTANCES || mean < SLOW_RESPONSE ||
        share < MINIMUM_RESPONSE_SHARE)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "http-compression";
    finding.title = "An upload waits " + SayTime(mean) + " for its answer";
    finding.explanation =
        "So long it takes from storing an instance to having sent the answer, " + SayShare(share) +
        " of an upload. With \"HttpCompressionEnabled\" (the default before Orthanc 1.12.2), "
        "Orthanc compresses each answer to a client that takes gzip, however small. That should "
        "cost 0.1 ms; how much of the time it is here cannot be told apart: what other plugins and "
        "scripts do with a stored instance is in it, too.";
    finding.evidence["MeanRespond"] = mean;
    finding.evidence["RespondShare"] = share;
    finding.cost =
        EstimateShare(traffic.GetSeconds(Phase::Respond), evidence.GetTotal(Direction::Receive));
    finding.remedy = Remedy::Configure(
        MakeOption("HttpCompressionEnabled", false),
        "Switch it off and compare; if nothing changes, look at what other plugins and scripts do "
        "with a stored instance. Downloads get faster too on a local network, as each image is "
        "compressed on its way; viewers over a slow line may profit from a reverse proxy that "
        "compresses large texts only. Or let the uploading client not ask for it (no header "
        "Accept-Encoding).");
    return finding;
  }
}
