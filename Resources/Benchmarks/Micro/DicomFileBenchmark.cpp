// SPDX-License-Identifier: GPL-3.0-or-later
// What reading costs for a CT image, whose pixels it steps over.
#include "ComputedTomography.h"
#include "Dicom/ReceivedFile.h"

#include <benchmark/benchmark.h>

#include <string>

namespace
{
  void CheckComputedTomography(benchmark::State& state)
  {
    const std::string file = OrthancPerf::MakeComputedTomography();

    if (!OrthancPerf::ReceivedFile(file).IsComplete())
    {
      state.SkipWithError("The file is not readable");
    }

    for (auto _ : state)
    {
      benchmark::DoNotOptimize(OrthancPerf::ReceivedFile(file));
    }
  }

  BENCHMARK(CheckComputedTomography);
}
