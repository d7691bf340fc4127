// SPDX-License-Identifier: GPL-3.0-or-later
// What the plugin's own work in all callbacks of an instance costs the ingesting thread, from the
// HTTP request to the last of the journal's observers, and what these cost, each alone and all
// together; with 1, 4 and 16 threads: time an instance. What Orthanc's SDK does for its getters
// comes on top of it.
#include "Advisor/Evidence.h"
#include "ComputedTomography.h"
#include "Dicom/ReceivedFile.h"
#include "Ingest/InstanceTracker.h"
#include "Ingest/Journal.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/History.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/ServerTraffic.h"
#include "Network/ConnectionTracker.h"

#include <benchmark/benchmark.h>

namespace OrthancPerf
{
  namespace
  {
    ReceivedInstance Describe(const std::string& file, Origin origin)
    {
      const ReceivedFile received(file);
      return {origin, file.size(), received.problem, received.identity};
    }

    KnownInstance MakeKnown(Origin origin, std::size_t size, int thread)
    {
      KnownInstance known;
      known.instanceId = "6e2c0ec2-5d99c8ca-c1c21cee-79a09605-68391d12";
      known.origin = origin;
      known.size = size;

      if (origin == Origin::DicomProtocol)
      {
        known.peer = {"MODALITY" + std::to_string(thread), "192.0.2.1"};
      }

      return known;
    }

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

    struct Observers
    {
      PeerStatistics statistics{256};
      ServerTraffic traffic;
      RecentInstances recent{1000};
      History history;
      EvidenceCollector evidence{statistics, 4};

      Journal statisticsOnly{{&statistics}};
      Journal trafficOnly{{&traffic}};
      Journal recentOnly{{&recent}};
      Journal historyOnly{{&history}};
      Journal evidenceOnly{{&evidence}};
      Journal all{{&statistics, &traffic, &recent, &history, &evidence}};
    };

    template <Journal Observers::*journal>
    void Publish(benchmark::State& state)
    {
      static const Observers observers;
      const FinishedInstance instance = MakeInstance(state.thread_index());

      for (auto _ : state)
      {
        (observers.*journal).Publish(instance);
      }

      state.SetItemsProcessed(state.iterations());
    }

    // The plugin's objects as PluginContext wires them, without the probe
    class Ingest : public benchmark::Fixture
    {
    protected:
      void Upload(const KnownInstance& known)
      {
        tracker_.OnRequest(Clock::now(), "192.0.2.1");
        Store(known);
      }

      void Finish(benchmark::State& state) const
      {
        state.SetItemsProcessed(state.iterations());

        if (observers_.recent.Latest(1).empty())
        {
          state.SkipWithError("No instance has come through");
        }
      }

      void Store(const KnownInstance& known)
      {
        const TimePoint received = Clock::now();
        tracker_.OnReceived(received, Describe(file_, known.origin));
        tracker_.OnFilter(Clock::now(), known);

        tracker_.OnStored(Clock::now(), known);
      }

      const std::string file_ = MakeComputedTomography();
      Observers observers_;
      ConnectionTracker source_;
      InstanceTracker tracker_{observers_.all, source_};
    };

    BENCHMARK_DEFINE_F(Ingest, Upload)(benchmark::State& state)
    {
      const KnownInstance known = MakeKnown(Origin::RestApi, file_.size(), state.thread_index());

      for (auto _ : state)
      {
        Upload(known);
      }

      Finish(state);
    }

    BENCHMARK_DEFINE_F(Ingest, CStore)(benchmark::State& state)
    {
      const KnownInstance known =
          MakeKnown(Origin::DicomProtocol, file_.size(), state.thread_index());

      for (auto _ : state)
      {
        Store(known);
      }

      Finish(state);
    }

    void UseThreads(benchmark::internal::Benchmark* benchmark)
    {
      benchmark->Threads(1)->Threads(4)->Threads(16)->UseRealTime();
    }

    BENCHMARK_REGISTER_F(Ingest, Upload)->Apply(UseThreads);
    BENCHMARK_REGISTER_F(Ingest, CStore)->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::statisticsOnly>)->Name("Observers/Statistics")->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::trafficOnly>)->Name("Observers/Traffic")->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::recentOnly>)->Name("Observers/Recent")->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::historyOnly>)->Name("Observers/History")->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::evidenceOnly>)->Name("Observers/Evidence")->Apply(UseThreads);
    BENCHMARK(Publish<&Observers::all>)->Name("Observers/All")->Apply(UseThreads);
  }
}
