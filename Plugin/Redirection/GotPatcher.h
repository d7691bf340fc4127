// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // One function to redirect: its name in the dynamic symbol tables, and what is to be called
  // instead. Symbol versions are ignored: libc has one version of each function watched here.
  struct Redirection
  {
    std::string name;
    void* replacement = nullptr;
  };

  template <typename Replacement>
  Redirection Redirect(const char* name, Replacement* replacement)
  {
    return {name, reinterpret_cast<void*>(replacement)};
  }

  // What became of one redirection
  struct RedirectionState
  {
    std::string name;
    std::size_t slots = 0;  // slots that call the replacement now, in all modules
  };

  // Redirects the calls that the executable and its loaded modules make to functions of other
  // modules, by storing into their GOT slots (System V ABI, AMD64 supplement section 5.2; ELF for
  // the Arm 64-bit architecture, section 9.2): those of R_*_JUMP_SLOT (calls through the PLT,
  // bound at once or lazily) and R_*_GLOB_DAT relocations (calls without a PLT). Knows nothing
  // of what the functions do.
  //
  // Not touched are: absolute relocations (tables of pointers in data, such as SQLite's, whose
  // files are not of interest), the dynamic linker, the vDSO, the module of "own" (so that the
  // replacements reach the originals), what the filter refuses, and modules that another thread is
  // just loading (seen by their RELRO pages still being writable); Refresh() finds them later.
  //
  // Slots on read-only pages (RELRO) are made writable for the store and read-only again. Stores
  // are atomic: other threads may call meanwhile, and reach either function. Restore() puts back
  // the slots that still hold the replacement in modules that are still loaded.
  //
  // Owned by the probe. Refresh, Restore and GetProblem: one thread; GetStates: any, also
  // meanwhile. x86-64 and arm64 only.
  class GotPatcher
  {
  public:
    // Given the path of a module (empty: the executable); false leaves the module alone.
    using ModuleFilter = std::function<bool(const std::string& path)>;

    // "own": any address in the module that must keep the originals; null: no such module
    GotPatcher(std::vector<Redirection> redirections, const void* own, ModuleFilter filter = {});

    // Restores
    ~GotPatcher();

    GotPatcher(const GotPatcher&) = delete;
    GotPatcher& operator=(const GotPatcher&) = delete;

    // Redirects every slot that is not redirected yet, also in modules loaded since. If that fails
    // half way, nothing remains redirected, and GetProblem() says why.
    void Refresh();

    // A slot that cannot be put back keeps calling the replacement: GetProblem() says so.
    void Restore();

    std::vector<RedirectionState> GetStates() const;

    // Why slots could not be redirected, in words; empty: all well. A function without any slot
    // is no problem in itself (nobody calls it), all of them without one is.
    const std::string& GetProblem() const
    {
      return problem_;
    }

  private:
    struct Patch
    {
      std::size_t redirection;  // index in "redirections_"
      void* original;           // what the slot held
    };

    void Redirect();
    void PutBack();

    const std::vector<Redirection> redirections_;
    const void* const own_;
    const ModuleFilter filter_;
    mutable std::mutex mutex_;  // protects the patches
    std::map<void**, Patch> patches_;
    std::string problem_;
  };
}
