// SPDX-License-Identifier: GPL-3.0-or-later
// The program OrthancPerfGdcm: GDCM's codecs, away from Orthanc's process.
#include "Transcoding/Program/Frames/FrameTranscoding.h"
#include "Transcoding/Program/Gdcm/GdcmCodec.h"
#include "Transcoding/Program/RunWorker.h"

int main(int argc, char** argv)
{
  std::vector<std::unique_ptr<OrthancPerf::ITranscodingEngine>> engines;
  engines.push_back(std::make_unique<OrthancPerf::FrameTranscoding>(
      "gdcm", std::make_unique<OrthancPerf::GdcmCodec>()));
  return OrthancPerf::RunWorker(engines, argc, argv);
}
