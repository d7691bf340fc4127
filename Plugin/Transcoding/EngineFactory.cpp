// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFactory.h"

#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Worker/IsolatedEngine.h"

#include <chrono>
#include <memory>

namespace OrthancPerf
{
  std::vector<InstalledEngine> MakeEngines(const std::filesystem::path& folder)
  {
    // The images of the self-test are tiny: what takes seconds there never ends
    WorkerLimits ofSelfTest;
    ofSelfTest.startup = std::chrono::seconds(10);
    ofSelfTest.time = std::chrono::seconds(2);

    std::vector<InstalledEngine> engines(3);
    std::vector<const ITranscodingEngine*> converters;

    const auto install = [&](InstalledEngine& installed, const char* name, const char* program)
    {
      const std::filesystem::path path = folder / program;
      installed.engine = std::make_unique<IsolatedEngine>(name, path, 0);
      installed.tested = std::make_unique<IsolatedEngine>(name, path, 1, ofSelfTest);
      converters.push_back(installed.engine.get());
    };

    install(engines[1], "dcmtk", "OrthancPerfDcmtk");
    install(engines[2], "gdcm", "OrthancPerfGdcm");
    engines[0].engine = std::make_unique<NativeEngine>(converters);
    return engines;
  }
}
