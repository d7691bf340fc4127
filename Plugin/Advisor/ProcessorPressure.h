// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // How much of the time programs wait for a processor, by Linux's own account (pressure stall
  // information, https://docs.kernel.org/accounting/psi.html). Owned by the plugin's context; not
  // thread-safe.
  class ProcessorPressure
  {
  public:
    // From here on, elapsed time says nothing about a disk or a database. "Some program waits" for
    // a share p of the time means that one that always wants to run takes 1 / (1 - p) times as
    // long, or less: four times, at most, below this. Those rules begin at four times what is
    // usual, so what they find below is not the processor's doing alone.
    static constexpr double STARVED = 0.75;

    using ReadText = std::function<std::string()>;  // all of /proc/pressure/cpu; empty: none

    explicit ProcessorPressure(ReadText read = &ReadKernel);

    // The share of the time since the last call, 0 to 1, in which a program that could have run
    // had to wait; nothing the first time, and where the kernel doesn't tell
    std::optional<double> Measure(TimePoint now);

  private:
    static std::string ReadKernel();

    const ReadText read_;
    std::optional<std::uint64_t> latest_;  // microseconds of waiting, since the machine started
    TimePoint measuredAt_;
  };


  // The microseconds of the line "some" in the text of /proc/pressure/cpu; nothing: there is none
  std::optional<std::uint64_t> ParseStalledTime(const std::string& text);
}
