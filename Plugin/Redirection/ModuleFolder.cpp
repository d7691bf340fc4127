// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/ModuleFolder.h"

#include <dlfcn.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    const char ADDRESS_IN_THIS_MODULE = 0;
  }


  std::filesystem::path GetModuleFolder()
  {
    Dl_info info = {};

    if (dladdr(&ADDRESS_IN_THIS_MODULE, &info) == 0 || info.dli_fname == nullptr)
    {
      return {};
    }

    std::error_code error;
    const std::filesystem::path file = std::filesystem::weakly_canonical(info.dli_fname, error);
    return error ? std::filesystem::path() : file.parent_path();
  }
}
