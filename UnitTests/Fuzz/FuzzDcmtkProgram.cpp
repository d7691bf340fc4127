// SPDX-License-Identifier: GPL-3.0-or-later
// Any file through what the program OrthancPerfDcmtk does (ProgramCheck.h)
#include "Fuzz/ProgramCheck.h"
#include "Transcoding/Program/Frames/FrameTranscoding.h"

using namespace OrthancPerf;

// Nothing needs a gigabyte, and what is given back rests, but not for long, which takes time
extern "C" const char* __asan_default_options()
{
  return "quarantine_size_mb=4:allocator_release_to_os_interval_ms=-1:"
         "max_allocation_size_mb=1024:allocator_may_return_null=1";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static EngineProcess engine(
      "DCMTK", [] { return std::make_unique<FrameTranscoding>("dcmtk", MakeFrameCodec()); });
  Input input(data, size);
  ProgramCheck(engine, "dcmtk").Run(input);
  return 0;
}
