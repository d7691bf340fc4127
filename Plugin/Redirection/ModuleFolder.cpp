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

    std::error_code error;
    const std::filesystem::path path = std::filesystem::weakly_canonical(file, error);
    return error || !path.is_absolute() ? UNKNOWN : path.parent_path();
  }
}
