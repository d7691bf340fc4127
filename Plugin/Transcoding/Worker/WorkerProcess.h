// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Worker/WorkerChannel.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <sys/types.h>

namespace OrthancPerf
{
  // A worker could not be started, or did not do what it was asked for. The message says what
  // happened to the worker: "did not answer within 31 s".
  class WorkerFailure : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };

  // A worker program that runs as a child of this process, and the plugin's end of what connects
  // them. It is started without copying this process (posix_spawn(3)), which may be large and hold
  // locks. It has default signal dispositions, an empty mask, /dev/null for the standard streams,
  // and no other descriptor than those of the channel. One thread at a time uses it; after a
  // failure it is of no more use. Its process is killed and waited for at destruction.
  class WorkerProcess
  {
  public:
    // Throws WorkerFailure: there is no such program, say; or std::system_error
    explicit WorkerProcess(const std::filesystem::path& program);

    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    ~WorkerProcess();

    // Returns when the worker has said that it is ready. Throws WorkerFailure.
    void WaitUntilReady(std::chrono::milliseconds patience);

    // Whether it can be asked. Since when it has been idle is the caller's business.
    bool IsAlive() const noexcept
    {
      return !isBroken_ && channel_.IsOpen();
    }

    // Throws WorkerFailure, or what an engine must not throw: std::system_error, std::bad_alloc
    EngineResult Transcode(const void* data, std::size_t size, const TranscodingTarget& target,
                           const WorkerLimits& limits);

    // Any thread may call it: a call that waits for an answer fails at once
    void Interrupt() noexcept
    {
      isInterrupted_ = true;
      channel_.Interrupt();
    }

  private:
    WorkerProcess(const std::filesystem::path& program, FileDescriptor workersEnd);

    template <typename Message>
    void Receive(Message& message, std::chrono::milliseconds limit);

    [[noreturn]] void ThrowEnd();
    int WaitForEnd(std::chrono::milliseconds patience) noexcept;

    WorkerChannel channel_;
    pid_t pid_ = -1;
    std::atomic<bool> isInterrupted_{false};
    bool isReady_ = false;
    bool isBroken_ = true;  // while a request, or the start, has not ended
  };
}
