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
    InstalledEngine& native = engines[0];

    const auto install = [&](InstalledEngine& installed, const char* name, const char* program)
    {
      const std::filesystem::path path = folder / program;
      installed.engine = std::make_unique<IsolatedEngine>(name, path, 0);
      installed.children.push_back(std::make_unique<IsolatedEngine>(name, path, 1, ofSelfTest));
      native.children.push_back(std::make_unique<IsolatedEngine>("native", path, 1, ofSelfTest));
      converters.push_back(installed.engine.get());
    };

    install(engines[1], "dcmtk", "OrthancPerfDcmtk");
    install(engines[2], "gdcm", "OrthancPerfGdcm");
    native.need = "it is tested in a program beside the plugin, which decodes what it writes, and "
                  "none starts";
    native.engine = std::make_unique<NativeEngine>(converters);
    return engines;
  }
}
