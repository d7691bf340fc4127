// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace OrthancPerf
{
  // How a process ended. A value.
  struct ProcessEnd
  {
    bool isKnown = false;  // false: someone else in this process has waited for it (waitpid(2))
    int exitCode = 0;
    int signal = 0;  // zero: it left by itself
  };

  // "ended by signal 11 (Segmentation fault)"
  std::string ToText(const ProcessEnd& end);


  // A program running as a child of this process. Started without copying this process
  // (posix_spawn(3)), which may be large and hold locks: with default signal dispositions and an
  // empty mask, /dev/null for the standard streams, and no other descriptor than those given to
  // it. It is killed and waited for at destruction. One thread at a time.
  class ChildProcess
  {
  public:
    // "descriptors": of this process, and the numbers that they get in the child, from 3 on in
    // sequence. Throws std::system_error: there is no such program, say.
    ChildProcess(const std::filesystem::path& program, const std::vector<int>& descriptors);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    ~ChildProcess();

    // Waits for an end that is to be expected, and kills it (SIGKILL) if that does not come
    ProcessEnd Wait(std::chrono::milliseconds patience) noexcept;

    ProcessEnd Kill() noexcept;

  private:
    bool TryWait(int options) noexcept;

    pid_t pid_ = -1;
    std::optional<ProcessEnd> end_;
  };
}
