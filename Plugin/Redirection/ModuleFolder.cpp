// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/ModuleFolder.h"

#include <dlfcn.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    const char ADDRESS_IN_THIS_MODULE = 0;

    // As the home of users that have none (Debian Policy, section 9.2.3)
    const std::filesystem::path UNKNOWN = "/nonexistent";
  }

  std::filesystem::path GetModuleFolder()
  {
    Dl_info info = {};
    return GetFolderOfModule(dladdr(&ADDRESS_IN_THIS_MODULE, &info) == 0 ? nullptr
                                                                         : info.dli_fname);
  }

  std::filesystem::path GetFolderOfModule(const char* file)
  {
    if (file == nullptr)
    {
      return UNKNOWN;
    }

    const std::filesystem::path name = file;
    std::error_code error;

    // Relative to what was the current folder once. (Of what is missing, weakly_canonical makes an
    // absolute path in libc++, but none in libstdc++.)
    if (name.is_relative() && !std::filesystem::exists(name, error))
    {
      return UNKNOWN;
    }

    const std::filesystem::path path = std::filesystem::weakly_canonical(name, error);
    return error ? UNKNOWN : path.parent_path();
  }
}
