// SPDX-License-Identifier: GPL-3.0-or-later
// The program OrthancPerfGdcm: GDCM's codecs, away from Orthanc's process.
#include "Transcoding/Program/Frames/FrameTranscoding.h"
#include "Transcoding/Program/RunWorker.h"

int main()
{
  return OrthancPerf::RunWorker(
      OrthancPerf::FrameTranscoding("gdcm", OrthancPerf::MakeFrameCodec()));
}
