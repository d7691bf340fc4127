// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/EngineDirectory.h"

#include <string>

namespace OrthancPerf
{
  // Has an engine write small images in each of GetWritableSyntaxes(), and decodes what it wrote by
  // the engine itself. One that does not decode is trusted: that is "native", which compares what
  // it writes with known bytes (NativeEngine::GetProblem). A codec that crashes does so in its
  // worker's process. "now": of the calling thread, to measure speeds with. Any thread may call
  // these.
  EngineVerdict TestEngine(const ITranscodingEngine& engine, const EngineDirectory::Now& now);

  // The engine works if it writes at least one of the samples, each without loss or with little,
  // and declines the others. Then its speed is measured with a larger one.
  SyntaxVerdict TestSyntax(const ITranscodingEngine& engine, const std::string& transferSyntax,
                           const EngineDirectory::Now& now);
}
