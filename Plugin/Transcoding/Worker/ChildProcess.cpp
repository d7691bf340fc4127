// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/ChildProcess.h"

#include "Redirection/FileDescriptor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr int FIRST_DESCRIPTOR = 3;
    constexpr std::chrono::milliseconds WAITING_STEP{1};

    void Check(int error, const char* call)
    {
      if (error != 0)
      {
        throw std::system_error(error, std::generic_category(), call);
      }
    }

    struct Destroyer
    {
      void operator()(posix_spawn_file_actions_t* actions) const noexcept
      {
        posix_spawn_file_actions_destroy(actions);
      }

      void operator()(posix_spawnattr_t* attributes) const noexcept
      {
        posix_spawnattr_destroy(attributes);
      }
    };

    // Copies with numbers so high that none is overwritten before it has got its place
    std::vector<FileDescriptor> MoveAway(const std::vector<int>& descriptors)
    {
      const int lowest = FIRST_DESCRIPTOR + static_cast<int>(descriptors.size());
      std::vector<FileDescriptor> copies;

      for (const int descriptor : descriptors)
      {
        copies.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, lowest));
        Check(copies.back().Get() < 0 ? errno : 0, "fcntl");
      }

      return copies;
    }

    pid_t Start(const std::filesystem::path& program, const std::vector<int>& descriptors)
    {
      const std::vector<FileDescriptor> copies = MoveAway(descriptors);
      posix_spawn_file_actions_t actions;
      posix_spawnattr_t attributes;
      Check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
      const std::unique_ptr<posix_spawn_file_actions_t, Destroyer> actionsEnd(&actions);
      Check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
      const std::unique_ptr<posix_spawnattr_t, Destroyer> attributesEnd(&attributes);

      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      {
        Check(posix_spawn_file_actions_addopen(&actions, stream, "/dev/null",
                                               stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0),
              "addopen");
      }

      int next = FIRST_DESCRIPTOR;

      for (const FileDescriptor& copy : copies)
      {
        Check(posix_spawn_file_actions_adddup2(&actions, copy.Get(), next++), "adddup2");
      }

      Check(posix_spawn_file_actions_addclosefrom_np(&actions, next), "addclosefrom_np");

      sigset_t all;
      sigset_t none;
      sigfillset(&all);
      sigemptyset(&none);
      posix_spawnattr_setsigdefault(&attributes, &all);
      posix_spawnattr_setsigmask(&attributes, &none);
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

      std::string name = program.string();
      std::array<char*, 2> argv = {name.data(), nullptr};
      pid_t pid = -1;
      Check(posix_spawn(&pid, name.c_str(), &actions, &attributes, argv.data(), environ),
            "cannot be started");
      return pid;
    }
  }


  std::string ToText(const ProcessEnd& end)
  {
    if (!end.isKnown)
    {
      return "ended unexpectedly";
    }

    if (end.signal != 0)
    {
      const char* const description = sigdescr_np(end.signal);
      return "ended by signal " + std::to_string(end.signal) +
             (description == nullptr ? "" : " (" + std::string(description) + ")");
    }

    return "ended with exit code " + std::to_string(end.exitCode);
  }


  ChildProcess::ChildProcess(const std::filesystem::path& program,
                             const std::vector<int>& descriptors) :
    pid_(Start(program, descriptors))
  {
  }


  ChildProcess::~ChildProcess()
  {
    Kill();
  }


  bool ChildProcess::TryWait(int options) noexcept
  {
    if (end_)
    {
      return true;
    }

    int status = 0;
    pid_t pid = 0;

    do
    {
      pid = waitpid(pid_, &status, options);
    } while (pid < 0 && errno == EINTR);

    if (pid == 0)
    {
      return false;
    }

    // ECHILD: Orthanc or another plugin ignores SIGCHLD, or waits for any child
    ProcessEnd end;
    end.isKnown = (pid == pid_);
    end.exitCode = end.isKnown && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end.signal = end.isKnown && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end_ = end;
    return true;
  }


  ProcessEnd ChildProcess::Wait(std::chrono::milliseconds patience) noexcept
  {
    const auto deadline = std::chrono::steady_clock::now() + patience;

    while (!TryWait(WNOHANG))
    {
      if (std::chrono::steady_clock::now() >= deadline)
      {
        return Kill();
      }

      std::this_thread::sleep_for(WAITING_STEP);
    }

    return *end_;
  }


  ProcessEnd ChildProcess::Kill() noexcept
  {
    // Only a child that was not waited for keeps its number: never the process of someone else
    if (!TryWait(WNOHANG))
    {
      kill(pid_, SIGKILL);
      TryWait(0);
    }

    return *end_;
  }
}
