// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace OrthancPerf
{
  // What makes a process a worker: it goes when the plugin's process goes, outlives the signals
  // that a terminal or systemd sends to all of Orthanc (the plugin ends it when it is done), writes
  // no core files (they would hold patient data), and is the first to go when memory is short.
  void BecomeWorker();

  // For the request that begins now: the process is killed when the time is over, in case nobody
  // else is there to do it, and gets no more than that address space. Sanitizers need a very large
  // one, so that there is no limit in their builds.
  void LimitRequest(std::uint64_t seconds, std::uint64_t memory);

  // The request is done
  void UnlimitTime();
}
