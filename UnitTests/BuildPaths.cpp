// SPDX-License-Identifier: GPL-3.0-or-later
#include "BuildPaths.h"

namespace OrthancPerf
{
  namespace BuildPaths
  {
    const char* GetSourceFolder() noexcept
    {
      return PERF_SOURCE_DIR;
    }

    const char* GetEagerCaller() noexcept
    {
      return PERF_CALLER_NOW;
    }

    const char* GetLazyCaller() noexcept
    {
      return PERF_CALLER_LAZY;
    }

    const char* GetTestWorker() noexcept
    {
      return PERF_TEST_WORKER;
    }

    const char* GetDcmtkProgram() noexcept
    {
      return PERF_DCMTK_PROGRAM;
    }

    const char* GetGdcmProgram() noexcept
    {
      return PERF_GDCM_PROGRAM;
    }
  }
}
