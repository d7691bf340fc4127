// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineFactory.h"

#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Worker/IsolatedEngine.h"

#include <chrono>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* DCMTK_PROGRAM = "OrthancPerfDcmtk";
    constexpr const char* GDCM_PROGRAM = "OrthancPerfGdcm";


    // The images of the self-test are tiny: what takes seconds there never ends
    WorkerLimits GetSelfTestLimits()
    {
      WorkerLimits limits;
      limits.startup = std::chrono::seconds(10);
      limits.time = std::chrono::seconds(2);
      return limits;
    }


    std::unique_ptr<ITranscodingEngine> MakeChild(const char* engine,
                                                  const std::filesystem::path& program)
    {
      return std::make_unique<IsolatedEngine>(engine, program, 1, GetSelfTestLimits());
    }


    InstalledEngine MakeIsolated(const char* engine, const std::filesystem::path& program)
    {
      InstalledEngine installed;
      installed.engine = std::make_unique<IsolatedEngine>(engine, program, 0);
      installed.children.push_back(MakeChild(engine, program));
      return installed;
    }
  }


  std::vector<InstalledEngine> MakeEngines(const std::filesystem::path& folder)
  {
    InstalledEngine dcmtk = MakeIsolated("dcmtk", folder / DCMTK_PROGRAM);
    InstalledEngine gdcm = MakeIsolated("gdcm", folder / GDCM_PROGRAM);

    const std::vector<const ITranscodingEngine*> converters = {dcmtk.engine.get(),
                                                               gdcm.engine.get()};
    InstalledEngine native;
    native.engine = std::make_unique<NativeEngine>(converters);
    native.children.push_back(MakeChild("native", folder / DCMTK_PROGRAM));
    native.children.push_back(MakeChild("native", folder / GDCM_PROGRAM));

    std::vector<InstalledEngine> engines;
    engines.push_back(std::move(native));
    engines.push_back(std::move(dcmtk));
    engines.push_back(std::move(gdcm));
    return engines;
  }
}
