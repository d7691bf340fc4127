// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace OrthancPerf
{
  // Where this build and its sources lie. Only BuildPaths.cpp is compiled with these paths, so that
  // a compiler cache also hits in another clone.
  namespace BuildPaths
  {
    const char* GetSourceFolder() noexcept;

    // Modules whose libc calls are redirected: one bound when it is loaded, one lazily
    const char* GetEagerCaller() noexcept;
    const char* GetLazyCaller() noexcept;

    const char* GetTestWorker() noexcept;

    // Empty where the program was not built
    const char* GetDcmtkProgram() noexcept;
    const char* GetGdcmProgram() noexcept;
  }
}
