// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFactory.h"

#include "Transcoding/IsolatedEngine.h"

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
      installed.child = MakeChild(engine, program);
      return installed;
    }
  }


  std::vector<InstalledEngine> MakeEngines(const std::filesystem::path& folder)
  {
    std::vector<InstalledEngine> engines;
    engines.push_back(MakeIsolated("dcmtk", folder / DCMTK_PROGRAM));
    engines.push_back(MakeIsolated("gdcm", folder / GDCM_PROGRAM));
    return engines;
  }
}
