// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"

namespace OrthancPerf
{
  // The main function of the worker programs (WorkerChannel.h): serves the plugin's requests, one
  // after the other, until the plugin closes the socket or is gone. Returns the exit code of the
  // program. The engine is called on this thread only, and is to be silent: nobody reads what it
  // prints.
  int RunWorker(const ITranscodingEngine& engine);
}
