// SPDX-License-Identifier: GPL-3.0-or-later
// Any file through what the program OrthancPerfGdcm does (ProgramCheck.h)
#include "Fuzz/ProgramCheck.h"
#include "Transcoding/Program/Frames/FrameTranscoding.h"

using namespace OrthancPerf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static EngineProcess engine(
      [] { return std::make_unique<FrameTranscoding>("gdcm", MakeFrameCodec()); });
  Input input(data, size);
  ProgramCheck(engine, "gdcm").Run(input);
  return 0;
}
