// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Worker/ChildProcess.h"
#include "Transcoding/Worker/MessageSocket.h"
#include "Transcoding/Worker/SharedMemory.h"
#include "Transcoding/Worker/WorkerProtocol.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace OrthancPerf
{
  // A worker could not be started, or did not do what it was asked for. The message says what
  // happened to the worker: "did not answer within 31 s".
  class WorkerFailure : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };


  // One process of a worker program, and the plugin's end of what connects them. One thread at a
  // time uses it; after a failure it is of no more use. Its process is gone with it.
  class WorkerProcess
  {
  public:
    explicit WorkerProcess(const std::filesystem::path& program);

    // Returns when the worker has said that it is ready. Throws WorkerFailure.
    void WaitUntilReady(std::chrono::milliseconds patience);

    // Whether it can be asked. Since when it has been idle is the caller's business.
    bool IsAlive() const noexcept
    {
      return !isBroken_ && socket_.IsOpen();
    }

    // Throws WorkerFailure, or what an engine must not throw: std::system_error, std::bad_alloc
    EngineResult Transcode(const void* data, std::size_t size, const TranscodingTarget& target,
                           const WorkerLimits& limits);

    // Any thread may call it: a call that waits for an answer fails at once
    void Interrupt() noexcept
    {
      isInterrupted_ = true;
      socket_.Interrupt();
    }

  private:
    WorkerProcess(const std::filesystem::path& program,
                  std::pair<FileDescriptor, FileDescriptor> ends);

    void ReceiveResponse(WorkerResponse& response, const WorkerLimits& limits);
    [[noreturn]] void ThrowEnd();
    [[noreturn]] void ThrowLate(std::chrono::milliseconds limit);

    SharedMemory memory_;
    MessageSocket socket_;
    ChildProcess process_;
    std::atomic<bool> isInterrupted_{false};
    bool isBroken_ = true;  // while a request, or the start, has not ended
  };
}
