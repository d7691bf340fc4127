// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessorPressure.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace OrthancPerf
{
  std::optional<std::uint64_t> ParseStalledTime(const std::string& text)
  {
    static const std::string TOTAL = "total=";
    std::istringstream lines(text);
    std::string line;

    while (std::getline(lines, line))
    {
      const std::size_t place = line.find(TOTAL);
      std::uint64_t total = 0;

      if (line.rfind("some ", 0) == 0 && place != std::string::npos &&
          std::istringstream(line.substr(place + TOTAL.size())) >> total)
      {
        return total;
      }
    }

    return std::nullopt;
  }


  ProcessorPressure::ProcessorPressure(ReadText read) : read_(std::move(read))
  {
  }


  std::optional<double> ProcessorPressure::Measure(TimePoint now)
  {
    const std::optional<std::uint64_t> stalled = ParseStalledTime(read_());
    const std::optional<std::uint64_t> before = std::exchange(latest_, stalled);
    const double elapsed = ToSeconds(now - std::exchange(measuredAt_, now));

    if (!stalled || !before || *stalled < *before || elapsed <= 0)
    {
      return std::nullopt;
    }

    constexpr double MICROSECONDS = 1e6;
    return std::min(static_cast<double>(*stalled - *before) / MICROSECONDS / elapsed, 1.0);
  }


  std::string ProcessorPressure::ReadKernel()
  {
    std::ifstream file("/proc/pressure/cpu");
    return {std::istreambuf_iterator<char>(file), {}};
  }
}
