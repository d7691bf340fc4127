// SPDX-License-Identifier: GPL-3.0-or-later
// What CheckDicomFile costs for a CT image, whose pixels it steps over.
#include "ComputedTomography.h"
#include "Dicom/DicomFile.h"

#include <benchmark/benchmark.h>

#include <string>

namespace
{
  void CheckComputedTomography(benchmark::State& state)
  {
    const std::string file = OrthancPerf::MakeComputedTomography();

    if (OrthancPerf::CheckDicomFile(file.data(), file.size()).verdict !=
        OrthancPerf::DicomFileVerdict::Readable)
    {
      state.SkipWithError("The file is not readable");
    }

    for (auto _ : state)
    {
      benchmark::DoNotOptimize(OrthancPerf::CheckDicomFile(file.data(), file.size()));
    }
  }

  BENCHMARK(CheckComputedTomography);
}
