// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/Finding.h"

#include <memory>
#include <vector>

namespace OrthancPerf
{
  // One thing that can hold ingest back: evidence in, findings out. A finding is there as long as
  // its cause is in the evidence, and never on too little of it. Rules keep nothing between two
  // judgements; any thread may call them.
  class IRule
  {
  public:
    virtual ~IRule() = default;

    virtual std::vector<Finding> Judge(const Evidence& evidence) const = 0;
  };

  // A rule that looks at each peer and direction by itself
  class PeerRule : public IRule
  {
  public:
    std::vector<Finding> Judge(const Evidence& evidence) const final;

  protected:
    virtual std::optional<Finding> JudgePeer(const PeerEvidence& peer,
                                             const Evidence& evidence) const = 0;
  };

  // A rule that has one finding at the most, about the whole server
  class ServerRule : public IRule
  {
  public:
    std::vector<Finding> Judge(const Evidence& evidence) const final;

  protected:
    virtual std::optional<Finding> JudgeServer(const Evidence& evidence) const = 0;
  };


  // Fewer instances than these say nothing: the first ones of a connection and of a new patient
  // are always slower (slow start, directories, caches)
  constexpr double MINIMUM_INSTANCES = 20;

  // What takes less of the time than this is not worth anybody's while
  constexpr double MINIMUM_SHARE = 0.05;

  // What "lost" seconds cost those instances whose time is "scope", and all in their direction
  Cost EstimateCost(double lost, double scope, const TrafficSums& all);

  // The same where it cannot be told how much would be won
  Cost EstimateShare(double lost, const TrafficSums& all);

  // {key: value}, and {section: {key: value}}
  Json::Value MakeOption(const char* key, const Json::Value& value);
  Json::Value MakeOption(const char* section, const char* key, const Json::Value& value);

  // A duration in words that need no unit key: "40 ms", "1.3 s"
  std::string SayTime(double seconds);

  // A size likewise: "64 KiB", "1.5 MiB"
  std::string SaySize(double bytes);

  // "0.85" as "85 %"
  std::string SayShare(double share);
}
