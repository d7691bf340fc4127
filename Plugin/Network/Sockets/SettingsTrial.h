// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Sockets/SocketTuning.h"
#include "Tuning/TuningDocument.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  // What this machine's kernel makes of socket settings, found out on a socket that is never
  // connected: what is in force then, and one line for each option that was capped or refused, or
  // that no socket could be made. A value.
  struct SettingsTrial
  {
    SocketOptions inForce;
    std::vector<std::string> problems;

    // Any thread
    static SettingsTrial Run(const DicomSockets& settings);
  };
}
