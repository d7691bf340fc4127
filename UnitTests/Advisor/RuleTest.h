// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"
#include "Metrics/Associations.h"
#include "Tuning/TuningReader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace OrthancPerf
{
  using Milliseconds = std::chrono::duration<double, std::milli>;

  inline Duration ToDuration(Milliseconds time)
  {
    return std::chrono::duration_cast<Duration>(time);
  }

  // What a test says of one instance: its phases in milliseconds
  struct Sample
  {
    std::vector<std::pair<Phase, double>> phases;
    std::size_t size = 500'000;
    std::uint32_t stalls = 0;
    double stallTime = 0;
    double gap = 10;  // since the instance before, in milliseconds
    std::optional<ServerRecord> database = {};
  };

  inline FinishedInstance ToInstance(const Sample& sample)
  {
    FinishedInstance instance;
    instance.outcome = Outcome::Stored;
    instance.size = sample.size;
    instance.stalls = sample.stalls;
    instance.stallTime = ToDuration(Milliseconds(sample.stallTime));
    instance.database = sample.database;

    for (const auto& [phase, time] : sample.phases)
    {
      instance.phases.Add(phase, ToDuration(Milliseconds(time)));
    }

    return instance;
  }

  // So many instances, one like the other
  inline TrafficBucket MakeTraffic(const Sample& sample, int count)
  {
    TimePoint now = TimePoint(std::chrono::hours(1));
    LatestTraffic latest(now);

    for (int i = 0; i < count; i++)
    {
      latest.Add(ToInstance(sample), now);
      now += ToDuration(Milliseconds(sample.gap));
    }

    return latest.GetEvidence(now);
  }

  // An instance of 5 ms as it is on a healthy server
  inline Sample MakeHealthy()
  {
    return {{{Phase::Idle, 1},
             {Phase::Receive, 1},
             {Phase::Parse, 0.1},
             {Phase::Prepare, 1},
             {Phase::Storage, 1.5},
             {Phase::Sync, 1},
             {Phase::Index, 1.2},
             {Phase::Respond, 0.2}},
            500'000};
  }

  // The evidence for one rule, and its judgement
  class RuleTest : public testing::Test
  {
  protected:
    static constexpr int MANY = 100;
    static constexpr int FEW = 15;

    // One peer's traffic, which is also all that there is in its direction
    PeerEvidence& AddPeer(const Sample& sample, int count = MANY,
                          Direction direction = Direction::Receive)
    {
      PeerEvidence peer;
      peer.name = "CT_ROOM_1";
      peer.direction = direction;
      peer.traffic = MakeTraffic(sample, count);
      peer.parties = MakeParties(peer.name);
      evidence_.received = direction == Direction::Receive ? peer.traffic : evidence_.received;
      evidence_.calm = evidence_.received;
      evidence_.peerTotals[static_cast<std::size_t>(direction)] = peer.traffic;
      evidence_.peers.push_back(peer);
      return evidence_.peers.back();
    }

    // What all peers have sent
    void SetTraffic(const Sample& sample, int count = MANY)
    {
      evidence_.received = evidence_.calm = MakeTraffic(sample, count);
    }

    static void SetTcp(PeerEvidence& peer, double roundTrip, std::uint32_t receiveWindow)
    {
      peer.tcp = MakeTcp();
      peer.tcp->minimumRoundTrip = ToDuration(Milliseconds(roundTrip));
      peer.tcp->receiveWindow = receiveWindow;
    }

    // All findings; with an identifier, those of that rule. Their texts are complete.
    std::vector<Finding> JudgeAll(const std::string& id = "") const
    {
      std::vector<Finding> found;

      for (const Rule& rule : MakeAllRules())
      {
        for (const Finding& finding : rule.Judge(evidence_))
        {
          if (id.empty() || finding.id == id || finding.id == id + "-sending")
          {
            ExpectTexts(finding);
            found.push_back(finding);
          }
        }
      }

      return found;
    }

    // The one finding there is, or of that rule, with these figures; a failure if there is none or
    // more
    Finding Judge(const std::string& id = "",
                  const std::vector<std::pair<const char*, double>>& figures = {}) const
    {
      const std::vector<Finding> findings = JudgeAll(id);
      EXPECT_EQ(1U, findings.size());
      const Finding finding = findings.empty() ? Finding() : findings[0];

      for (const auto& [name, figure] : figures)
      {
        const double tolerance = std::max(1e-6, 1e-8 * figure);
        EXPECT_NEAR(figure, finding.evidence[name].asDouble(), tolerance) << name;
      }

      return finding;
    }

    static bool Has(const std::string& text, const std::string& part)
    {
      return text.find(part) != std::string::npos;
    }

    bool IsFound(const std::string& id = "") const
    {
      return !JudgeAll(id).empty();
    }

    // In the evidence that "set" makes, for this test only
    void ExpectNot(const std::function<bool()>& judge, const std::string& name,
                   const std::function<void()>& set)
    {
      const Evidence before = evidence_;
      set();
      EXPECT_FALSE(judge()) << name;
      evidence_ = before;
    }

    // The rule, or any one, finds nothing
    void ExpectNothing(const std::string& id, const std::string& name,
                       const std::function<void()>& set)
    {
      ExpectNot([&] { return IsFound(id); }, name, set);
    }

    static void ExpectTexts(const Finding& finding)
    {
      for (const std::string& text : {finding.title, finding.explanation, finding.remedy.text})
      {
        EXPECT_FALSE(text.empty()) << finding.id;
        EXPECT_EQ(std::string::npos, text.find('{')) << finding.id << ": " << text;
      }
    }

    // PUT /perf/tuning takes the remedy as it is, and this comes of it
    Tuning Apply(const Finding& finding) const
    {
      EXPECT_EQ("Tuning", finding.remedy.kind);
      return ApplyTuning(evidence_.tuning, ReadTuningPatch(finding.remedy.document));
    }

    Evidence evidence_;
  };
}
