// SPDX-License-Identifier: GPL-3.0-or-later
// All observers of the journal together: their bounds, and many threads at once.
#include "Ingest/Journal.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/Associations.h"
#include "Metrics/Instances.h"
#include "Metrics/MetricTable.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/ServerTraffic.h"
#include "Threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <malloc.h>
#include <sstream>
#include <string>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t MAXIMUM_PEERS = 256;

    // Of glibc's allocator: under a sanitizer, which brings its own, it stays zero. Looked up, as
    // the portable build is linked for a glibc before 2.33.
    std::size_t CountAllocatedBytes()
    {
      auto* const ask = reinterpret_cast<struct mallinfo2 (*)()>(dlsym(RTLD_DEFAULT, "mallinfo2"));
      return ask == nullptr ? 0 : ask().uordblks;
    }

    class ObserversTest : public testing::Test
    {
    protected:
      static std::vector<OpenAssociation> ListOpen()
      {
        return {MakeOpenAssociation("STRANGER-A"), MakeOpenAssociation("STRANGER-B")};
      }

      // Instance by instance, each over an association of its own, from this many peers in turn, of
      // which the first has this number
      void Publish(std::size_t count, std::size_t peers, std::size_t first = 0)
      {
        FinishedInstance instance = MakeInstance("");
        FinishedAssociation association = MakeAssociation("");

        for (std::size_t i = 0; i < count; i++)
        {
          std::array<char, 32> name = {};
          (void)std::snprintf(name.data(), name.size(), "STRANGER-%020zu", first + i % peers);
          instance.peer.name = name.data();
          instance.direction = i / peers % 2 == 0 ? Direction::Receive : Direction::Send;
          instance.areStallsObserved = true;
          instance.stalls = 1;
          now_ = now_.load() + std::chrono::milliseconds(1);
          journal_.Publish(instance);
          association.peer = instance.peer;
          association.direction = instance.direction;
          journal_.Publish(association);
        }
      }

      std::string GetText()
      {
        MetricFigures figures;
        static_cast<ServerTotals&>(figures) = traffic_.GetTotals();
        figures.peers = statistics_.Summarize();
        return WriteMetrics(figures);
      }

      // Of all series of a metric
      double GetSum(const std::string& name)
      {
        std::istringstream text(GetText());
        double sum = 0;

        for (std::string line; std::getline(text, line);)
        {
          const bool isOfIt = line.compare(0, name.size() + 1, name + "{") == 0;
          sum += isOfIt ? std::stod(line.substr(line.rfind(' '))) : 0;
        }

        return sum;
      }

      std::atomic<TimePoint> now_ = TimePoint(std::chrono::seconds(1000));
      PeerStatistics statistics_{MAXIMUM_PEERS, &ListOpen,
                                 [this]
                                 {
                                   return now_.load();
                                 }};
      ServerTraffic traffic_{[this]
                             {
                               return now_.load();
                             }};
      RecentInstances recent_{1000};
      Journal journal_{{&statistics_, &traffic_, &recent_}};
    };
  }

  // The second half comes from strangers only. A peer has as many series, whoever it is.
  TEST_F(ObserversTest, MemoryIsFlatOver100000InstancesFrom10000Peers)
  {
    Publish(50000, 5000);
    const std::size_t before = CountAllocatedBytes();
    Publish(50000, 5000, 5000);
    const std::size_t after = CountAllocatedBytes();
    EXPECT_LE(after, before + 4096);

    EXPECT_EQ(100000.0, GetSum("orthanc_perf_peer_instances_total"));
    EXPECT_EQ(MAXIMUM_PEERS + 1, statistics_.Summarize().size());
    EXPECT_EQ(1000U, recent_.Latest(100000).size());
  }

  TEST_F(ObserversTest, ThreadsPublishWhileOthersRead)
  {
    constexpr std::size_t THREADS = 8;
    constexpr std::size_t INSTANCES = 2000;
    std::atomic<bool> done = false;
    std::thread reader(
        [this, &done]
        {
          InstanceFilter stranger;
          stranger.peer = "STRANGER";

          while (!done)
          {
            GetText();
            statistics_.Summarize();
            traffic_.SummarizeWindows();
            recent_.Latest(100, stranger);
          }
        });

    RunOnThreads(THREADS, [this](int) { Publish(INSTANCES, 500); });
    done = true;
    reader.join();

    const double all = THREADS * INSTANCES;
    EXPECT_EQ(all, GetSum("orthanc_perf_peer_instances_total"));
    EXPECT_EQ(all * 1000, GetSum("orthanc_perf_peer_bytes_total"));
    EXPECT_EQ(all / 2, GetSum("orthanc_perf_ingest_instances_total"));
    EXPECT_EQ(all, GetSum("orthanc_perf_stalls_total"));
    EXPECT_EQ(all, GetSum("orthanc_perf_associations_total"));
  }
}
