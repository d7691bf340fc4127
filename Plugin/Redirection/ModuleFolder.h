// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace OrthancPerf
{
  // The folder of the library or program that holds this function: of libOrthancPerf.so inside
  // Orthanc, of the test program in a test. The worker programs lie beside it. Any thread may call
  // it.
  std::filesystem::path GetModuleFolder();

  // The folder of a module that the dynamic linker has loaded from this file (dladdr(3)). Never a
  // relative path, which would make a program of the working directory out of a worker:
  // "/nonexistent" if the linker can't tell (null), or tells a relative one that does not exist.
  std::filesystem::path GetFolderOfModule(const char* file);
}
