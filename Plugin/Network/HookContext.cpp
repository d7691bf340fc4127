// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/HookContext.h"

#include "Network/GatheredFile.h"
#include "Network/Sockets/SocketTuning.h"

#include <array>
#include <pthread.h>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    // Threads count themselves in one of these while they use the context: several, so that they
    // seldom share a cache line.
    struct alignas(64) UserCount
    {
      std::atomic<std::uint32_t> users = 0;
    };

    // C functions have no other way to their data. Nothing here needs a destructor.
    std::atomic<HookContext*> currentContext = nullptr;
    std::array<UserCount, 64> userCounts;

    std::atomic<std::uint32_t>& ChooseCount() noexcept
    {
      // Stacks of different threads are 100 kB apart or more (CivetWeb's); thread_local storage of
      // a plugin might be allocated at its first use. Fibonacci hashing (Knuth, TAOCP 3, 6.4) to 6
      // bits.
      const char here = 0;
      const std::uint64_t page = reinterpret_cast<std::uintptr_t>(&here) >> 16U;
      return userCounts[(page * 0x9E3779B97F4A7C15U) >> 58U].users;
    }

    // In a child of fork(2), which has none of the threads that were counted
    void ForgetParent() noexcept
    {
      currentContext.store(nullptr);
      GatheredFile::ForgetParent();

      for (UserCount& count : userCounts)
      {
        count.users.store(0);
      }
    }
  }

  ContextUse::ContextUse() noexcept : users_(ChooseCount())
  {
    users_.fetch_add(1);
    context_ = currentContext.load();
  }

  ContextUse::~ContextUse()
  {
    users_.fetch_sub(1);
  }

  void ContextUse::Tune(Connection& connection) const noexcept
  {
    const auto& [sockets, revision] = GetSettings();

    if (connection.IsDicom() &&
        connection.settingsRevision.exchange(revision, std::memory_order_relaxed) != revision)
    {
      DicomSockets settings = sockets;  // the name of a congestion control needs no memory
      settings.tcpNoDelay = settings.tcpNoDelay || connection.isNoDelayAsked;
      ApplySocketSettings(connection.fd, settings);
    }
  }

  bool ContextUse::BeforeWait(const Connection& connection) const noexcept
  {
    const DicomSockets& settings = GetSettings().sockets;

    if (connection.IsDicom() && settings.tcpQuickAck)
    {
      AcknowledgeNow(connection.fd);
    }

    // Without Nagle's algorithm nothing is held back. Looked at once: a peer may rest for hours.
    return connection.IsDicom() && !settings.tcpNoDelay && connection.IsMessageAwaited() &&
           connection.waited == Duration::zero();
  }

  bool EnterContext(HookContext& context)
  {
    static const int registered = pthread_atfork(nullptr, nullptr, &ForgetParent);
    (void)registered;  // without memory for that, a child does as before

    HookContext* none = nullptr;
    return currentContext.compare_exchange_strong(none, &context);
  }

  void LeaveContext(HookContext& context)
  {
    HookContext* mine = &context;

    if (currentContext.compare_exchange_strong(mine, nullptr))
    {
      WaitForHooks();
    }
  }

  bool IsOwnProcess() noexcept
  {
    const ContextUse use;
    return !use || getpid() == use->process;
  }

  void WaitForHooks() noexcept
  {
    for (const UserCount& count : userCounts)
    {
      while (count.users.load() != 0)
      {
        std::this_thread::yield();
      }
    }
  }
}
