// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerProcess.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // How long a process may take to end after it has closed its socket. Only a very large one
    // needs more than a moment.
    constexpr std::chrono::seconds END_PATIENCE{2};

    // What an idle worker may keep of its shared memory
    constexpr std::size_t KEPT_MEMORY = std::size_t(16) << 20;

    // exit code of ld.so(8) when it does not find a library, among others
    constexpr int EXIT_CODE_NO_LIBRARY = 127;

    WorkerRequest MakeRequest(std::size_t size, const TranscodingTarget& target,
                              const WorkerLimits& limits)
    {
      WorkerRequest request;
      request.lossyQuality = target.lossyQuality;
      SetText(request.transferSyntax, target.transferSyntax);
      request.sourceSize = size;
      request.maximumMemory = limits.memory;
      request.maximumResult = limits.result;
      request.maximumSeconds =
          static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(limits.time).count());
      return request;
    }
  }


  WorkerProcess::WorkerProcess(const std::filesystem::path& program) :
    WorkerProcess(program, MessageSocket::MakePair())
  {
  }


  WorkerProcess::WorkerProcess(const std::filesystem::path& program,
                               std::pair<FileDescriptor, FileDescriptor> ends) :
    socket_(std::move(ends.first)),
    process_(program, {ends.second.Get(), memory_.GetDescriptor()})
  {
    static_assert(WORKER_SOCKET == 3 && WORKER_MEMORY == 4);
  }


  void WorkerProcess::WaitUntilReady(std::chrono::milliseconds patience)
  {
    WorkerHello hello;

    switch (socket_.Receive(hello, patience))
    {
      case MessageSocket::Receipt::TimedOut:
        ThrowLate(patience);

      case MessageSocket::Receipt::Closed:
      {
        if (isInterrupted_)
        {
          ThrowEnd();
        }

        const ProcessEnd end = process_.Wait(END_PATIENCE);
        throw WorkerFailure(end.exitCode == EXIT_CODE_NO_LIBRARY
                                ? "does not start: a library that it needs is missing (see ldd)"
                                : "does not start: it " + ToText(end));
      }

      default:
        break;
    }

    if (!IsOfThisBuild(hello))
    {
      throw WorkerFailure("is of another version than the plugin (" PERF_VERSION ")");
    }

    isBroken_ = false;
  }


  EngineResult WorkerProcess::Transcode(const void* data, std::size_t size,
                                        const TranscodingTarget& target, const WorkerLimits& limits)
  {
    isBroken_ = true;
    memory_.Write(data, size);

    if (!socket_.Send(MakeRequest(size, target, limits)))
    {
      ThrowEnd();
    }

    WorkerResponse response;
    ReceiveResponse(response, limits);

    EngineResult result;
    result.outcome = static_cast<TranscodingOutcome>(response.outcome);

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      result.file = memory_.Read(response.resultSize);
    }
    else
    {
      result.reason = GetText(response.reason);
    }

    memory_.Shrink(KEPT_MEMORY);

    // It may have failed for want of memory, which it keeps: then it would fail each image
    isBroken_ = (result.outcome == TranscodingOutcome::Failed);
    return result;
  }


  void WorkerProcess::ReceiveResponse(WorkerResponse& response, const WorkerLimits& limits)
  {
    switch (socket_.Receive(response, limits.time))
    {
      case MessageSocket::Receipt::TimedOut:
        ThrowLate(limits.time);

      case MessageSocket::Receipt::Closed:
        ThrowEnd();

      default:
        break;
    }

    if (!IsPlausible(response, limits))
    {
      throw WorkerFailure("has given an answer that makes no sense");
    }
  }


  void WorkerProcess::ThrowEnd()
  {
    if (isInterrupted_)
    {
      process_.Kill();
      throw WorkerFailure("is being stopped");
    }

    throw WorkerFailure(ToText(process_.Wait(END_PATIENCE)));
  }


  void WorkerProcess::ThrowLate(std::chrono::milliseconds limit)
  {
    process_.Kill();
    const bool isWhole = (limit.count() % 1000 == 0);
    throw WorkerFailure("did not answer within " +
                        (isWhole ? std::to_string(limit.count() / 1000) + " s"
                                 : std::to_string(limit.count()) + " ms"));
  }
}
