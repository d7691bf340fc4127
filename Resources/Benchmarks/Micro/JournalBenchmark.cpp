// SPDX-License-Identifier: GPL-3.0-or-later
// What the journal's observers cost the ingesting thread, each alone and all together, with 1, 4
// and 16 threads: time an instance.
#include "Advisor/Evidence.h"
#include "Ingest/Journal.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/History.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/ServerTraffic.h"

#include <benchmark/benchmark.h>

namespace OrthancPerf
{
  namespace
  {
    // All phases that a C-STORE with the probe has
    FinishedInstance MakeInstance(int thread)
    {
      FinishedInstance instance;
      instance.instanceId = "6e2c0ec2-5d99c8ca-c1c21cee-79a09605-68391d12";
      instance.origin = Origin::DicomProtocol;
      instance.outcome = Outcome::Stored;
      instance.peer = {"MODALITY" + std::to_string(thread), "192.0.2.1"};
      instance.size = 525000;
      instance.stalls = 1;
      instance.stallTime = std::chrono::milliseconds(40);

      for (const Phase phase : GetAllPhases())
      {
        if (phase != Phase::Transcode && phase != Phase::Commit)
        {
          instance.phases.Add(phase, std::chrono::microseconds(700));
        }
      }

      return instance;
    }

    class Observers : public benchmark::Fixture
    {
    protected:
      void Publish(benchmark::State& state, const Journal& journal) const
      {
        const FinishedInstance instance = MakeInstance(state.thread_index());

        for (auto _ : state)
        {
          journal.Publish(instance);
        }

        state.SetItemsProcessed(state.iterations());
      }

      PeerStatistics statistics_{256};
      ServerTraffic traffic_;
      RecentInstances recent_{1000};
      History history_;
      EvidenceCollector evidence_{statistics_, 4};

      Journal statisticsOnly_{{&statistics_}};
      Journal trafficOnly_{{&traffic_}};
      Journal recentOnly_{{&recent_}};
      Journal historyOnly_{{&history_}};
      Journal evidenceOnly_{{&evidence_}};
      Journal all_{{&statistics_, &traffic_, &recent_, &history_, &evidence_}};
    };

    BENCHMARK_DEFINE_F(Observers, Statistics)(benchmark::State& state)
    {
      Publish(state, statisticsOnly_);
    }

    BENCHMARK_DEFINE_F(Observers, Traffic)(benchmark::State& state)
    {
      Publish(state, trafficOnly_);
    }

    BENCHMARK_DEFINE_F(Observers, Recent)(benchmark::State& state)
    {
      Publish(state, recentOnly_);
    }

    BENCHMARK_DEFINE_F(Observers, History)(benchmark::State& state)
    {
      Publish(state, historyOnly_);
    }

    BENCHMARK_DEFINE_F(Observers, Evidence)(benchmark::State& state)
    {
      Publish(state, evidenceOnly_);
    }

    BENCHMARK_DEFINE_F(Observers, All)(benchmark::State& state)
    {
      Publish(state, all_);
    }

    void UseThreads(benchmark::internal::Benchmark* benchmark)
    {
      benchmark->Threads(1)->Threads(4)->Threads(16)->UseRealTime();
    }

    BENCHMARK_REGISTER_F(Observers, Statistics)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Observers, Traffic)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Observers, Recent)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Observers, History)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Observers, Evidence)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Observers, All)->Apply(UseThreads);
  }
}
