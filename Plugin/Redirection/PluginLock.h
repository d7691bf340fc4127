// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <pthread.h>
#include <string>

namespace OrthancPerf
{
  // Orthanc's one lock around its plugins ("invokeServiceMutex_", a boost::recursive_mutex, in
  // Orthanc 1.10.1 to 1.13.0). Orthanc holds it while it calls the received-instance callback:
  // what works there for milliseconds lets one instance at a time through. This class finds that
  // lock, and gives it back to the others while a callback is at work.
  //
  // Found by its use: for a moment, the calls of pthread_mutex_lock in all modules lead here
  // (GotPatcher), and a service of Orthanc's is called that takes the lock. The first recursive
  // mutex that this thread locks in it is the one.
  //
  // Owned by the plugin's context. Find() at start, on one thread, before anything else; the rest
  // from any thread. The lock belongs to Orthanc, and lives as long as its callbacks are called.
  class PluginLock
  {
  public:
    // Lets others into Orthanc's plugins for as long as this object lives, if the lock is known,
    // and held exactly once, by this thread: else nothing happens. It is held again afterwards,
    // also after an exception.
    class Release
    {
    public:
      explicit Release(PluginLock& lock) noexcept;
      ~Release();

      Release(const Release&) = delete;
      Release& operator=(const Release&) = delete;

    private:
      pthread_mutex_t* const mutex_;  // null: nothing was released
    };

    // "callService" has Orthanc take its lock, and do no more. False: GetProblem() says why the
    // lock remains unknown.
    bool Find(const std::function<void()>& callService);

    bool IsKnown() const noexcept
    {
      return mutex_ != nullptr;
    }

    // Why the lock is not known, in words; empty if it is
    const std::string& GetProblem() const
    {
      return problem_;
    }

    void SetProblem(const std::string& problem)
    {
      problem_ = problem;
    }

    // How often it was released, and how often it could not be: not known, or held more than once
    // (an instance that another plugin stores from inside one of its callbacks)
    std::uint64_t CountReleased() const noexcept
    {
      return released_.load(std::memory_order_relaxed);
    }

    std::uint64_t CountKept() const noexcept
    {
      return kept_.load(std::memory_order_relaxed);
    }

  private:
    pthread_mutex_t* Unlock() noexcept;

    pthread_mutex_t* mutex_ = nullptr;
    std::string problem_ = "it was not looked for";
    std::atomic<std::uint64_t> released_{0};
    std::atomic<std::uint64_t> kept_{0};
  };
}
