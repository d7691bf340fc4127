// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // ---- slow-reads --------------------------------------------------------------------------

    // In seconds, of five minutes
    constexpr double MINIMUM_WAIT = 5;

    // Of the time of all requests of a class: the rest is Orthanc's own work
    constexpr double MINIMUM_WAIT_SHARE = 0.5;

    // What Orthanc waits for, and has nothing to do meanwhile
    struct Wait
    {
      const char* name;  // a variant of the texts
      double seconds;
    };


    std::array<Wait, 3> ListWaits(const ReadSummary& reads)
    {
      static_assert(REQUEST_PHASES[2] == Phase::Database && REQUEST_PHASES[3] == Phase::Storage);
      return {{{"Client", ToSeconds(reads.clientWait)},
               {"Database", reads.phases[2].sum},
               {"Storage", reads.phases[3].sum}}};
    }


    // The longest wait of a class. How much of it a remedy gives back is not known.
    std::optional<Judgement> JudgeReads(const Evidence& evidence)
    {
      std::optional<Judgement> judgement;
      double longest = MINIMUM_WAIT;
      double all = 0;

      for (std::size_t route = 0; route < evidence.served.size(); route++)
      {
        const ReadSummary& reads = evidence.served[route];
        const double time = reads.GetSeconds();
        all += time;

        for (const Wait& wait : ListWaits(reads))
        {
          if (wait.seconds >= longest && wait.seconds >= MINIMUM_WAIT_SHARE * time)
          {
            longest = wait.seconds;
            judgement = Judgement({{"Class", LABELS<RouteClass>[route]},
                                   {"WaitsFor", wait.name},
                                   {"Requests", static_cast<Json::UInt64>(reads.CountRequests())},
                                   {"WaitTime", wait.seconds},
                                   {"WaitShare", wait.seconds / time}},
                                  {}, wait.name);
          }
        }
      }

      if (judgement)
      {
        judgement->cost.shareOfIngestTime = longest / all;
      }

      return judgement;
    }
  }


  std::vector<Rule> MakeReadRules()
  {
    return {{"slow-reads", &JudgeReads}};
  }
}
