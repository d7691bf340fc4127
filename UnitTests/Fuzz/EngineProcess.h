// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Fuzz/Require.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sanitizer/common_interface_defs.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

// What the compiler has put into this program for libFuzzer (clang's SanitizerCoverage): a counter
// for each edge, and the place of each. It wants the linker's names of them for itself in C++.
__asm__(".pushsection .data.rel.ro.perf_coverage, \"aw\"\n"
        ".balign 8\n"
        "perf_coverage:\n"
        ".quad __start___sancov_cntrs, __stop___sancov_cntrs\n"
        ".quad __start___sancov_pcs, __stop___sancov_pcs\n"
        ".popsection");

struct PerfCoverage
{
  struct Place
  {
    std::uintptr_t address;
    std::uintptr_t flags;
  };

  std::uint8_t* firstCounter;
  std::uint8_t* endOfCounters;
  const Place* firstPlace;
  const Place* endOfPlaces;
};

extern "C" const PerfCoverage perf_coverage __attribute__((visibility("hidden")));

namespace OrthancPerf
{
  // Whose code an engine's process was in when it ended: the first on the stack that is compiled
  // for fuzzing, or is of a codec library. Runtimes (libc's abort(), a sanitizer's report) are
  // nobody's.
  class EndOfProcess
  {
  public:
    // What the process ends with
    static constexpr int OF_OURS = 70;
    static constexpr int OF_LIBRARY = 71;

    // "last": what is still to be done
    static void Watch(void (*last)())
    {
      GetLast() = last;
      void* first = nullptr;
      backtrace(&first, 1);  // loads what it needs

      struct sigaction action = {};
      action.sa_handler = [](int)
      {
        End();
      };
      action.sa_flags = SA_ONSTACK;
      sigemptyset(&action.sa_mask);

      for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
      {
        sigaction(signal, &action, nullptr);
      }

      __sanitizer_set_death_callback(End);
    }

  private:
    using LastDeed = void (*)();

    static LastDeed& GetLast()
    {
      static LastDeed last = nullptr;
      return last;
    }

    static void End()
    {
      const bool isOfLibrary = IsOfLibrary();

      if (!isOfLibrary)
      {
        __sanitizer_print_stack_trace();
      }

      GetLast()();
      _exit(isOfLibrary ? OF_LIBRARY : OF_OURS);
    }

    static bool IsOfLibrary()
    {
      constexpr int MOST = 200;
      void* frames[MOST];
      const int count = backtrace(frames, MOST);

      int begin = 0;

      while (begin < count && IsOurs(frames[begin]))
      {
        begin++;  // this class
      }

      for (int i = begin; i < count; i++)
      {
        if (IsOurs(frames[i]))
        {
          return false;
        }

        if (IsInCodecLibrary(frames[i]))
        {
          return true;
        }
      }

      return false;
    }

    static bool IsOurs(const void* address)
    {
      constexpr std::uintptr_t LAST_BLOCK = 256;  // bytes, about
      const auto isBefore = [](const PerfCoverage::Place& one, const PerfCoverage::Place& other)
      {
        return one.address < other.address;
      };
      const auto [first, last] =
          std::minmax_element(perf_coverage.firstPlace, perf_coverage.endOfPlaces, isBefore);
      const auto place = reinterpret_cast<std::uintptr_t>(address);
      return place >= first->address && place <= last->address + LAST_BLOCK;
    }

    static bool IsInCodecLibrary(const void* address)
    {
      static constexpr std::string_view RUNTIMES[] = {
          "/libc.so", "/libstdc++.so", "/libm.so", "/libgcc_s.so", "/ld-linux", "linux-vdso"};
      Dl_info library = {};

      if (dladdr(address, &library) == 0 || library.dli_fname == nullptr)
      {
        return false;
      }

      const std::string_view name = library.dli_fname;
      return name.find(".so") != std::string_view::npos &&
             std::none_of(std::begin(RUNTIMES), std::end(RUNTIMES),
                          [name](std::string_view runtime)
                          { return name.find(runtime) != std::string_view::npos; });
    }
  };

  // An engine in a process of its own, as the plugin has it: one after the other, whenever a codec
  // library has ended the one before. What code it reaches is this program's coverage. Where it is
  // this project's code that ends it, that is the end of this program, too.
  class EngineProcess
  {
  public:
    using Make = std::function<std::unique_ptr<ITranscodingEngine>()>;

    struct Answer
    {
      EngineResult result;
      bool isCrash = false;  // of a codec library: all that the plugin has then is "failed"
    };

    explicit EngineProcess(Make make) :
      make_(std::move(make)),
      memory_(static_cast<Memory*>(Map(sizeof(Memory)))),
      counters_(static_cast<std::uint8_t*>(Map(CountCounters())))
    {
    }

    // The engine's process ends first: what time it took is this one's then
    ~EngineProcess()
    {
      if (process_ > 0)
      {
        close(connection_);
        waitpid(process_, nullptr, 0);
      }
    }

    Answer Transcode(const std::string& file, const std::string& syntax, unsigned int quality)
    {
      if (process_ <= 0)
      {
        Start();
      }

      Ask(file, syntax, quality);
      const bool isAnswered = Exchange();
      AddCoverage();

      if (!isAnswered)
      {
        Bury();
        return {EngineResult::MakeFailed("the process ended"), true};
      }

      return {GetResult(), false};
    }

  private:
    static constexpr std::size_t ROOM = std::size_t(192) << 20;
    static constexpr unsigned int MOST_SECONDS = 100;

    // What both processes see
    struct Memory
    {
      char syntax[80];
      unsigned int quality;
      TranscodingOutcome outcome;
      char reason[4096];
      std::size_t reasonSize;
      std::size_t size;  // of the file, and of that which it has become
      char file[ROOM];
    };

    static void* Map(std::size_t size)
    {
      void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      Require(memory != MAP_FAILED);
      return memory;
    }

    static std::size_t CountCounters()
    {
      return static_cast<std::size_t>(perf_coverage.endOfCounters - perf_coverage.firstCounter);
    }

    // In the engine's process, which knows only one
    static EngineProcess*& GetServed()
    {
      static EngineProcess* served = nullptr;
      return served;
    }

    void Start()
    {
      int ends[2] = {};
      Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
      process_ = fork();
      Require(process_ >= 0);

      if (process_ == 0)
      {
        close(ends[0]);
        connection_ = ends[1];
        Serve();
      }

      close(ends[1]);
      connection_ = ends[0];
    }

    [[noreturn]] void Serve()
    {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      GetServed() = this;
      SilenceLibraries();
      EndOfProcess::Watch([] { GetServed()->KeepCoverage(); });
      const std::unique_ptr<ITranscodingEngine> engine = make_();
      char signal = 0;

      while (read(connection_, &signal, 1) == 1)
      {
        std::memset(perf_coverage.firstCounter, 0, CountCounters());
        alarm(MOST_SECONDS);
        const std::string file(memory_->file, memory_->size);  // so that its end is watched, too
        SetResult(engine->Transcode(file.data(), file.size(), {memory_->syntax, memory_->quality}));
        alarm(0);
        KeepCoverage();

        if (write(connection_, &signal, 1) != 1)
        {
          break;
        }
      }

      _exit(0);
    }

    // What they print, but not what the sanitizers do
    static void SilenceLibraries()
    {
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      const int reports = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
      Require(nowhere >= 0 && reports >= 0);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      close(nowhere);
      __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(reports)));
    }

    void Ask(const std::string& file, const std::string& syntax, unsigned int quality)
    {
      Require(file.size() <= ROOM && syntax.size() < sizeof(memory_->syntax));
      std::memcpy(memory_->syntax, syntax.c_str(), syntax.size() + 1);
      memory_->quality = quality;
      memory_->size = file.size();
      std::memcpy(memory_->file, file.data(), file.size());
    }

    // Whether the engine has answered
    bool Exchange() const
    {
      char signal = 1;
      ssize_t count = send(connection_, &signal, 1, MSG_NOSIGNAL);

      do
      {
        count = count == 1 || errno == EINTR ? read(connection_, &signal, 1) : 0;
      } while (count < 0 && errno == EINTR);

      return count == 1;
    }

    void SetResult(const EngineResult& result)
    {
      const bool fits = result.file.size() <= ROOM;  // as the plugin has a limit, too
      const std::string reason = fits ? result.reason : "the result is too large";
      memory_->outcome = fits ? result.outcome : TranscodingOutcome::Failed;
      memory_->reasonSize = std::min(reason.size(), sizeof(memory_->reason));
      std::memcpy(memory_->reason, reason.data(), memory_->reasonSize);
      memory_->size = fits ? result.file.size() : 0;
      std::memcpy(memory_->file, result.file.data(), memory_->size);
    }

    EngineResult GetResult() const
    {
      EngineResult result;
      result.outcome = memory_->outcome;
      result.reason.assign(memory_->reason, memory_->reasonSize);
      result.file.assign(memory_->file, memory_->size);
      return result;
    }

    void KeepCoverage() const
    {
      std::memcpy(counters_, perf_coverage.firstCounter, CountCounters());
    }

    void AddCoverage()
    {
      std::uint8_t* const own = perf_coverage.firstCounter;

      for (std::size_t i = 0; i < CountCounters(); i++)
      {
        own[i] = static_cast<std::uint8_t>(std::min(own[i] + counters_[i], 255));
        counters_[i] = 0;
      }
    }

    void Bury()
    {
      int status = 0;
      close(connection_);
      Require(waitpid(process_, &status, 0) == process_);
      process_ = -1;

      if (!WIFEXITED(status) || WEXITSTATUS(status) != EndOfProcess::OF_LIBRARY)
      {
        std::fprintf(stderr, "It is no codec library that has ended its process: %d\n", status);
        std::abort();
      }
    }

    const Make make_;
    Memory* const memory_;
    std::uint8_t* const counters_;  // of the engine's process
    pid_t process_ = -1;
    int connection_ = -1;
  };
}
