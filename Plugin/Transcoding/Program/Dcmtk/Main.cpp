// SPDX-License-Identifier: GPL-3.0-or-later
// The program OrthancPerfDcmtk: DCMTK's codecs, away from Orthanc's process.
#include "Transcoding/Program/Dcmtk/DcmtkCodec.h"
#include "Transcoding/Program/Frames/FrameTranscoding.h"
#include "Transcoding/Program/RunWorker.h"

int main(int argc, char** argv)
{
  std::vector<std::unique_ptr<OrthancPerf::ITranscodingEngine>> engines;
  engines.push_back(std::make_unique<OrthancPerf::FrameTranscoding>(
      "dcmtk", std::make_unique<OrthancPerf::DcmtkCodec>()));
  return OrthancPerf::RunWorker(engines, argc, argv);
}
