// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

namespace OrthancPerf
{
  // Sockets as Orthanc makes them: for tests that change one option
  inline DicomSockets MakeStock()
  {
    return GetPresetValues(SocketPreset::Stock).value();
  }
}
