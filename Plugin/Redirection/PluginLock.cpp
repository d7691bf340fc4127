// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/PluginLock.h"

#include "Redirection/GotPatcher.h"

#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    // ---- What glibc keeps in a mutex (sysdeps/nptl/bits/struct_mutex.h) ------------------------

    bool IsRecursive(const pthread_mutex_t* mutex) noexcept
    {
      constexpr int TYPE_AND_ROBUSTNESS = 127;
      return (mutex->__data.__kind & TYPE_AND_ROBUSTNESS) == PTHREAD_MUTEX_RECURSIVE;
    }

    // Another thread may change both meanwhile, but never to this thread's identifier
    bool IsHeldOnceByThisThread(const pthread_mutex_t* mutex) noexcept
    {
      const int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
      return owner == static_cast<int>(syscall(SYS_gettid)) && mutex->__data.__count == 1;
    }

    // ---- The search -----------------------------------------------------------------------------

    // What the redirected function works on: the thread that searches, zero if none does, and what
    // it found. Other threads that come by only call the original.
    std::atomic<long> searchingThread{0};
    std::atomic<pthread_mutex_t*> firstRecursive{nullptr};

    int OnMutexLock(pthread_mutex_t* mutex) noexcept
    {
      const int result = pthread_mutex_lock(mutex);

      if (searchingThread.load() == syscall(SYS_gettid) && firstRecursive.load() == nullptr &&
          IsRecursive(mutex) && IsHeldOnceByThisThread(mutex))
      {
        firstRecursive.store(mutex);
      }

      return result;
    }

    // Null: no recursive mutex was locked
    pthread_mutex_t* Watch(const std::function<void()>& callService)
    {
      firstRecursive.store(nullptr);
      searchingThread.store(syscall(SYS_gettid));
      callService();
      searchingThread.store(0);
      return firstRecursive.load();
    }
  }

  PluginLock::Release::Release(PluginLock& lock) noexcept : mutex_(lock.Unlock())
  {
  }

  PluginLock::Release::~Release()
  {
    // Nobody may go on as if the lock were held when it is not: Orthanc's data would be at stake
    if (mutex_ != nullptr && pthread_mutex_lock(mutex_) != 0)
    {
      std::abort();
    }
  }

  bool PluginLock::Find(const std::function<void()>& callService)
  {
    GotPatcher patcher({Redirect("pthread_mutex_lock", &OnMutexLock)},
                       reinterpret_cast<const void*>(&OnMutexLock));
    patcher.Refresh();
    mutex_ = nullptr;
    problem_ = patcher.GetProblem();

    if (!problem_.empty())
    {
      return false;
    }

    // Twice: what is locked by chance, at a first use, is no lock around each call
    pthread_mutex_t* const first = Watch(callService);
    pthread_mutex_t* const second = Watch(callService);

    if (first == nullptr || first != second)
    {
      problem_ = "this Orthanc calls its plugins in a way that is not known";
      return false;
    }

    mutex_ = first;
    return true;
  }

  pthread_mutex_t* PluginLock::Unlock() noexcept
  {
    if (mutex_ == nullptr || !IsHeldOnceByThisThread(mutex_) || pthread_mutex_unlock(mutex_) != 0)
    {
      kept_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }

    released_.fetch_add(1, std::memory_order_relaxed);
    return mutex_;
  }
}
