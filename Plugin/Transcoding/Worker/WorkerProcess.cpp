// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerProcess.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
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

    pid_t Start(const std::filesystem::path& program, int socket, int memory)
    {
      // Copies with numbers so high that none is overwritten before it has got its place
      const FileDescriptor highSocket(fcntl(socket, F_DUPFD_CLOEXEC, WORKER_MEMORY + 1));
      const FileDescriptor highMemory(fcntl(memory, F_DUPFD_CLOEXEC, WORKER_MEMORY + 1));
      std::string name = program.string();
      std::array<char*, 2> argv = {name.data(), nullptr};
      sigset_t all;
      sigset_t none;
      sigfillset(&all);
      sigemptyset(&none);

      posix_spawnattr_t attributes;
      posix_spawnattr_init(&attributes);
      posix_spawnattr_setsigdefault(&attributes, &all);
      posix_spawnattr_setsigmask(&attributes, &none);
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      int error = 0;
      const auto check = [&error](int result)
      {
        error = error == 0 ? result : error;
      };

      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      {
        check(posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0));
      }

      pid_t pid = -1;
      check(posix_spawn_file_actions_adddup2(&actions, highSocket.Get(), WORKER_SOCKET));
      check(posix_spawn_file_actions_adddup2(&actions, highMemory.Get(), WORKER_MEMORY));
      check(posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_MEMORY + 1));
      check(error == 0
                ? posix_spawn(&pid, name.c_str(), &actions, &attributes, argv.data(), environ)
                : 0);
      posix_spawn_file_actions_destroy(&actions);
      posix_spawnattr_destroy(&attributes);

      if (error != 0)
      {
        throw WorkerFailure("cannot be started: " + name + ": " +
                            std::generic_category().message(error));
      }

      return pid;
    }

    // "ended by signal 11 (Segmentation fault)"; "status": of waitpid(2)
    std::string Describe(int status)
    {
      // Orthanc or another plugin ignores SIGCHLD, or waits for any child
      if (status < 0)
      {
        return "ended unexpectedly";
      }

      if (WIFSIGNALED(status))
      {
        const char* const description = sigdescr_np(WTERMSIG(status));
        return "ended by signal " + std::to_string(WTERMSIG(status)) +
               (description == nullptr ? "" : " (" + std::string(description) + ")");
      }

      return "ended with exit code " + std::to_string(WEXITSTATUS(status));
    }

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
    WorkerProcess(program, FileDescriptor())
  {
  }

  WorkerProcess::WorkerProcess(const std::filesystem::path& program, FileDescriptor workersEnd) :
    channel_(workersEnd),
    pid_(Start(program, workersEnd.Get(), channel_.GetMemory()))
  {
  }

  WorkerProcess::~WorkerProcess()
  {
    WaitForEnd(std::chrono::milliseconds(0));
  }

  void WorkerProcess::WaitUntilReady(std::chrono::milliseconds patience)
  {
    WorkerHello hello;
    Receive(hello, patience);

    if (!IsOfThisBuild(hello))
    {
      throw WorkerFailure("is of another version than the plugin (" PERF_VERSION ")");
    }

    isReady_ = true;
    isBroken_ = false;
  }

  EngineResult WorkerProcess::Transcode(const void* data, std::size_t size,
                                        const TranscodingTarget& target, const WorkerLimits& limits)
  {
    isBroken_ = true;
    channel_.WriteMemory(data, size);

    if (!channel_.Send(MakeRequest(size, target, limits)))
    {
      ThrowEnd();
    }

    WorkerResponse response;
    Receive(response, limits.time);

    if (!IsPlausible(response, limits))
    {
      throw WorkerFailure("sent an invalid answer");
    }

    EngineResult result;
    result.outcome = static_cast<TranscodingOutcome>(response.outcome);

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      result.file = channel_.ReadMemory(response.resultSize);
    }
    else
    {
      result.reason = GetText(response.reason);
    }

    channel_.SetMemorySize(KEPT_MEMORY);

    // It may have failed for want of memory, which it keeps: then it would fail each image
    isBroken_ = (result.outcome == TranscodingOutcome::Failed);
    return result;
  }

  template <typename Message>
  void WorkerProcess::Receive(Message& message, std::chrono::milliseconds limit)
  {
    const WorkerChannel::Receipt receipt = channel_.Receive(message, limit);

    if (receipt == WorkerChannel::Receipt::Closed)
    {
      ThrowEnd();
    }

    if (receipt == WorkerChannel::Receipt::TimedOut)
    {
      const bool isWhole = (limit.count() % 1000 == 0);
      throw WorkerFailure("did not answer within " +
                          (isWhole ? std::to_string(limit.count() / 1000) + " s"
                                   : std::to_string(limit.count()) + " ms"));
    }
  }

  void WorkerProcess::ThrowEnd()
  {
    if (isInterrupted_)
    {
      throw WorkerFailure("is being stopped");
    }

    const int status = WaitForEnd(END_PATIENCE);

    if (isReady_)
    {
      throw WorkerFailure(Describe(status));
    }

    throw WorkerFailure(status >= 0 && WIFEXITED(status) &&
                                WEXITSTATUS(status) == EXIT_CODE_NO_LIBRARY
                            ? "does not start: a library that it needs is missing (see ldd)"
                            : "does not start: it " + Describe(status));
  }

  // Kills the process if its end does not come by itself. Only a child that was not waited for
  // keeps its number: never is another process killed. Returns the status of waitpid(2); -1:
  // someone else in this process has waited for it.
  int WorkerProcess::WaitForEnd(std::chrono::milliseconds patience) noexcept
  {
    const TimePoint deadline = Clock::now() + patience;
    int options = WNOHANG;

    while (pid_ > 0)
    {
      int status = 0;
      const pid_t ended = waitpid(pid_, &status, options);

      if (ended > 0 || (ended < 0 && errno != EINTR))
      {
        pid_ = -1;
        return ended > 0 ? status : -1;
      }

      if (ended == 0 && Clock::now() >= deadline)
      {
        kill(pid_, SIGKILL);
        options = 0;
      }
      else if (ended == 0)
      {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }

    return -1;
  }
}
