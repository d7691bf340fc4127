// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/ProcessorPressure.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace OrthancPerf
{
  std::uint64_t ParseWait(const std::string& text)
  {
    std::istringstream stream(text);
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;
    return stream >> ran >> waited ? waited : 0;
  }


  ProcessorPressure::ProcessorPressure(ReadWaits read, Now now) :
    read_(std::move(read)),
    now_(std::move(now))
  {
  }


  ProcessorPressure::Measurement ProcessorPressure::Measure()
  {
    const Waits before = std::exchange(latest_, read_());
    const TimePoint now = now_();
    const TimePoint measuredAt = std::exchange(measuredAt_, now).value_or(now);
    Measurement measurement;
    measurement.span = now - measuredAt;

    for (const auto& [thread, waited] : latest_)
    {
      const auto known = before.find(thread);

      // A thread that is new may have the number of one that has ended
      if (known != before.end() && waited >= known->second)
      {
        measurement.waits[thread] = waited - known->second;
      }
    }

    return measurement;
  }


  ProcessorPressure::Waits ProcessorPressure::ReadKernel()
  {
    Waits waits;
    std::error_code error;
    std::filesystem::directory_iterator thread("/proc/self/task", error);

    for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error))
    {
      std::ifstream file(thread->path() / "schedstat");  // empty if the thread has just ended
      const long number = std::strtol(thread->path().filename().c_str(), nullptr, 10);
      waits[static_cast<int>(number)] =
          ParseWait(std::string(std::istreambuf_iterator<char>(file), {}));
    }

    return waits;
  }
}
