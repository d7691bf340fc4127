// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Admission/AdmissionQueue.h"
#include "Network/ConnectionTracker.h"
#include "Redirection/ErrnoKeeper.h"
#include "Tuning/TuningDocument.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  // Socket settings. Their revision, which is never zero, says whether a connection has them.
  struct SocketSettings
  {
    DicomSockets sockets;
    std::uint32_t revision;
  };

  // What the hooks work on while the probe is installed
  struct HookContext
  {
    ConnectionTracker& tracker;
    AdmissionQueue& admission;
    std::atomic<const SocketSettings*> settings;  // may become others: see WaitForHooks()
    const pid_t process = getpid();
  };

  // From now on the hooks work on this context; false if there is another one already. In a child
  // of fork(2) they only call their originals: what another thread had locked stays locked there.
  bool EnterContext(HookContext& context);

  // From now on the hooks only call their originals. Returns when no thread uses the context any
  // more, which takes microseconds: threads that wait inside an original don't use it.
  void LeaveContext(HookContext& context);

  // False in a child of vfork(2) (Python's subprocess, Java): it has our memory until it executes
  // its program, and closes the descriptors that it inherits. Costs a system call.
  bool IsOwnProcess() noexcept;

  // Returns when no thread reads what it got from the context before this call
  void WaitForHooks() noexcept;

  // The context, safe from LeaveContext() for as long as this object lives, which must be short:
  // no original that may wait is called meanwhile. Leaves errno as it was. Any thread, on its
  // stack.
  class ContextUse
  {
  public:
    ContextUse() noexcept;
    ~ContextUse();

    ContextUse(const ContextUse&) = delete;
    ContextUse& operator=(const ContextUse&) = delete;

    // Null: there is no context, or the descriptor is not watched
    Connection* Find(int fd) const noexcept
    {
      return context_ == nullptr ? nullptr : context_->tracker.table.Find(fd);
    }

    // The same, if it is known for what it is
    Connection* FindRecognised(int fd) const noexcept
    {
      Connection* const connection = Find(fd);
      return connection != nullptr && connection->GetKind() != ConnectionKind::OutgoingCandidate
                 ? connection
                 : nullptr;
    }

    // Sets the options if they have changed since this connection got them
    void Tune(Connection& connection) const noexcept;

    // The thread has to wait for bytes of it: acknowledges what came, if the settings want that.
    // True: see ConnectionTracker::LookIntoWait.
    bool BeforeWait(const Connection& connection) const noexcept;

    HookContext* operator->() const noexcept
    {
      return context_;
    }

    const SocketSettings& GetSettings() const noexcept
    {
      return *context_->settings;
    }

    explicit operator bool() const noexcept
    {
      return context_ != nullptr;
    }

    // The message under way is over; its connection may have been closed behind our backs (dup2(2))
    void CloseMessage(int fd) const noexcept
    {
      Connection* const connection = Find(fd);

      if (connection != nullptr && std::exchange(connection->isCounted, false))
      {
        context_->admission.Close(fd);
      }
    }

  private:
    const ErrnoKeeper errno_;
    std::atomic<std::uint32_t>& users_;
    HookContext* context_ = nullptr;
  };
}
