// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/BudgetMetrics.h"

#include "Metrics/Exposition.h"

#include <gtest/gtest.h>
#include <string>

namespace OrthancPerf
{
  TEST(BudgetMetrics, AreGaugesAndCounters)
  {
    AdmissionFigures figures;
    figures.limit = 1000;
    figures.held = 600;
    figures.inFlight = 6;
    figures.waiting = 2;
    figures.waits = 5;
    figures.waited = std::chrono::milliseconds(1500);
    figures.givenUp = 3;
    const BudgetMetrics metrics([figures] { return figures; });
    const std::string text = Exposition({&metrics}).ToText();

    for (const std::string line : {"bytes 1000", "held_bytes 600", "in_flight 6", "waiting 2",
                                   "waits_total 5", "waited_seconds_total 1.5", "given_up_total 3"})
    {
      EXPECT_NE(std::string::npos, text.find("\northanc_perf_ingest_budget_" + line + "\n"))
          << line;
    }

    EXPECT_NE(std::string::npos,
              text.find("# TYPE orthanc_perf_ingest_budget_waits_total counter"));
    EXPECT_NE(std::string::npos, text.find("# TYPE orthanc_perf_ingest_budget_waiting gauge"));
  }
}
