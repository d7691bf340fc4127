// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "BuildPaths.h"

#include <dlfcn.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace OrthancPerf
{
  // The module of UnitTests/Redirection/Caller, loaded while this object lives
  class CallerModule
  {
  public:
    explicit CallerModule(const std::string& path = BuildPaths::GetEagerCaller()) :
      handle_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL), &dlclose)
    {
      if (handle_ == nullptr)
      {
        throw std::runtime_error(dlerror());
      }
    }

    template <typename Signature>
    Signature* Get(const char* name) const
    {
      return reinterpret_cast<Signature*>(dlsym(handle_.get(), name));
    }

    // For GotPatcher: only these modules are redirected, so that a test changes nobody else
    static bool IsCaller(const std::string& path)
    {
      return path.find("libCaller-") != std::string::npos;
    }

  private:
    std::unique_ptr<void, int (*)(void*)> handle_;
  };
}
