// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The pages of this process that are readable but not writable, as /proc/self/maps (proc(5))
  // tells at construction. A value.
  class ReadOnlyPages
  {
  public:
    // Throws std::runtime_error if /proc/self/maps cannot be read
    ReadOnlyPages();

    bool Contains(const void* address) const;

  private:
    struct Range
    {
      std::uintptr_t begin;
      std::uintptr_t end;
    };

    std::vector<Range> ranges_;
  };

  // One slot through which a module calls a function of another module
  struct ImportSlot
  {
    const char* function;
    void** slot;
  };

  // A module of this process, as the dynamic linker describes it. Valid only inside the visitor:
  // there the module cannot be unloaded.
  struct LoadedModule
  {
    std::string path;  // empty: the executable
    bool isDynamicLinker = false;
    bool isVirtual = false;      // the vDSO
    bool isBeingLoaded = false;  // its relocations are not finished
    bool containsOwn = false;
    std::vector<ImportSlot> imports;
  };

  // Visits the executable and every loaded module (dl_iterate_phdr(3)). "own" is any address, to
  // recognise the module that contains it. The visitor must not load or unload modules.
  void VisitLoadedModules(const ReadOnlyPages& readOnly, const void* own,
                          const std::function<void(const LoadedModule&)>& visitor);
}
