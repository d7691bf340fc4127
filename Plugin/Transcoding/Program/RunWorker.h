// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The main function of the worker programs (WorkerProtocol.h): serves the plugin's requests, one
  // after the other, with the engine that "--engine NAME" names, else with the first one, until
  // the plugin closes the socket or is gone. Returns the exit code of the program. The engines are
  // called on this thread only, and are to be silent: nobody reads what they print.
  int RunWorker(const std::vector<std::unique_ptr<ITranscodingEngine>>& engines, int argc,
                const char* const* argv);

  // For an engine's Transcode(): the file that "transcode" returns, or what it throws: NotCovered
  // declines (CodecError.h), all else fails
  EngineResult MakeResult(const std::function<std::string()>& transcode) noexcept;
}
