// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFactory.h"

#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Worker/IsolatedEngine.h"

#include <memory>
#include <utility>

namespace OrthancPerf
{
  Engines MakeEngines(const std::filesystem::path& folder)
  {
    auto dcmtk = std::make_unique<IsolatedEngine>("dcmtk", folder / "OrthancPerfDcmtk", 0);
    auto gdcm = std::make_unique<IsolatedEngine>("gdcm", folder / "OrthancPerfGdcm", 0);
    Engines engines;
    engines.push_back(std::make_unique<NativeEngine>(
        std::vector<const ITranscodingEngine*>{dcmtk.get(), gdcm.get()}));
    engines.push_back(std::move(dcmtk));
    engines.push_back(std::move(gdcm));
    return engines;
  }
}
