// SPDX-License-Identifier: GPL-3.0-or-later
// The program OrthancPerfDcmtk: DCMTK's codecs, away from Orthanc's process. It serves the native
// engine too, for its self-test.
#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Program/Dcmtk/DcmtkEngine.h"
#include "Transcoding/Program/RunWorker.h"

int main(int argc, char** argv)
{
  std::vector<std::unique_ptr<OrthancPerf::ITranscodingEngine>> engines;
  engines.push_back(std::make_unique<OrthancPerf::DcmtkEngine>());
  engines.push_back(std::make_unique<OrthancPerf::NativeEngine>());
  return OrthancPerf::RunWorker(engines, argc, argv);
}
