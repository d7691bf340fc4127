// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/GotPatcher.h"

#include "Redirection/LoadedModules.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    void* Load(void** slot)
    {
      return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    }

    void Protect(void** slot, int protection)
    {
      const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
      const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(slot) / page * page;

      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      if (mprotect(reinterpret_cast<void*>(begin), page, protection) != 0)
      {
        throw std::runtime_error(std::string("a read-only page cannot be changed: ") +
                                 std::strerror(errno));
      }
    }

    void Store(void** slot, void* value, const ReadOnlyPages& readOnly)
    {
      const bool isReadOnly = readOnly.Contains(slot);

      if (isReadOnly)
      {
        Protect(slot, PROT_READ | PROT_WRITE);
      }

      __atomic_store_n(slot, value, __ATOMIC_RELEASE);

      if (isReadOnly)
      {
        Protect(slot, PROT_READ);
      }
    }

    std::optional<std::size_t> Find(const std::vector<Redirection>& redirections, const char* name)
    {
      for (std::size_t i = 0; i < redirections.size(); i++)
      {
        if (redirections[i].name == name)
        {
          return i;
        }
      }

      return std::nullopt;
    }

    bool IsFixed(const LoadedModule& module)
    {
      return module.isDynamicLinker || module.isVirtual || module.containsOwn;
    }
  }

  GotPatcher::GotPatcher(std::vector<Redirection> redirections, const void* own,
                         ModuleFilter filter) :
    redirections_(std::move(redirections)),
    own_(own),
    filter_(std::move(filter))
  {
  }

  GotPatcher::~GotPatcher()
  {
    Restore();
  }

  void GotPatcher::Refresh()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    problem_.clear();

    try
    {
      Redirect();
    }
    catch (const std::exception& e)
    {
      const std::string reason = e.what();

      if (!patches_.empty())
      {
        PutBack();
      }

      problem_ = problem_.empty() ? reason : reason + "; " + problem_;
      return;
    }

    if (patches_.empty())
    {
      problem_ = "no module calls the watched functions through a GOT slot; "
                 "is libc linked statically?";
    }
  }

  void GotPatcher::Restore()
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!patches_.empty())
    {
      problem_.clear();
      PutBack();
    }
  }

  void GotPatcher::Redirect()
  {
    const ReadOnlyPages readOnly;

    VisitLoadedModules(readOnly, own_,
                       [&](const LoadedModule& module)
                       {
                         if (IsFixed(module) || module.isBeingLoaded ||
                             (filter_ && !filter_(module.path)))
                         {
                           return;
                         }

                         for (const ImportSlot& import : module.imports)
                         {
                           const auto index = Find(redirections_, import.function);

                           if (index && Load(import.slot) != redirections_[*index].replacement)
                           {
                             patches_[import.slot] = {*index, Load(import.slot)};
                             Store(import.slot, redirections_[*index].replacement, readOnly);
                           }
                         }
                       });
  }

  // Slots that are still there: a module may have been unloaded since. The others are put back even
  // if one cannot be.
  void GotPatcher::PutBack()
  {
    const auto putBack = [&](const ImportSlot& import, const ReadOnlyPages& readOnly)
    {
      const auto patch = patches_.find(import.slot);

      if (patch == patches_.end() ||
          Load(import.slot) != redirections_[patch->second.redirection].replacement)
      {
        return;
      }

      try
      {
        Store(import.slot, patch->second.original, readOnly);
      }
      catch (const std::exception& e)
      {
        problem_ = std::string("not everything could be put back: ") + e.what();
      }
    };

    try
    {
      const ReadOnlyPages readOnly;
      VisitLoadedModules(readOnly, own_,
                         [&](const LoadedModule& module)
                         {
                           for (const ImportSlot& import : module.imports)
                           {
                             putBack(import, readOnly);
                           }
                         });
    }
    catch (const std::exception& e)
    {
      problem_ = std::string("what was redirected could not be put back: ") + e.what();
    }

    if (problem_.empty())
    {
      patches_.clear();
    }
  }

  std::vector<RedirectionState> GotPatcher::GetStates() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<RedirectionState> states;
    states.reserve(redirections_.size());

    for (const Redirection& redirection : redirections_)
    {
      states.push_back({redirection.name, 0});
    }

    for (const auto& [slot, patch] : patches_)
    {
      states[patch.redirection].slots++;
    }

    return states;
  }
}
