// SPDX-License-Identifier: GPL-3.0-or-later
// A worker program whose engine does to its process what codecs do to theirs
#include "Transcoding/Program/RunWorker.h"
#include "Transcoding/Worker/WorkerChannel.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace
{
  using OrthancPerf::EngineResult;

  std::string ListDescriptors()
  {
    std::string list;

    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    {
      const std::string number = entry.path().filename();

      // Not the one that lists them
      if (fcntl(std::stoi(number), F_GETFD) >= 0 && std::stoi(number) <= 4)
      {
        list += number + " ";
      }
      else if (std::filesystem::read_symlink(entry.path()).string().find("/fd") ==
               std::string::npos)
      {
        list += "unexpected:" + number + " ";
      }
    }

    return list;
  }

  std::string DescribeProcess()
  {
    struct sigaction pipe = {};
    sigset_t mask;
    rlimit core = {};
    sigaction(SIGPIPE, nullptr, &pipe);
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    getrlimit(RLIMIT_CORE, &core);
    return std::string(pipe.sa_handler == SIG_DFL ? "SIGPIPE as usual" : "SIGPIPE handled") +
           (sigismember(&mask, SIGUSR1) == 0 ? ", no mask" : ", masked") +
           (core.rlim_cur == 0 ? ", no core" : ", core");
  }

  const std::map<std::string, EngineResult> ANSWERS = {
      {"decline", EngineResult::MakeDeclined("not this one")},
      {"curse", EngineResult::MakeFailed("a\xff\n\x7f z")},
      {"fail", EngineResult::MakeFailed(std::string(10000, 'x'))},
      {"pid", EngineResult::MakeTranscoded(std::to_string(getpid()))},
      {"oversized", EngineResult::MakeTranscoded(std::string(std::size_t(2) << 20, 'x'))}};

  const std::map<std::string, std::function<EngineResult(const std::string&)>> DEEDS = {
      {"echo",
       [](const std::string& file)
       {
         return EngineResult::MakeTranscoded(file);
       }},
      {"crash",
       [](const std::string&)
       {
         static_cast<void>(signal(SIGSEGV, SIG_DFL));  // sanitizers catch it
         static_cast<void>(raise(SIGSEGV));
         return EngineResult();
       }},
      {"abort",
       [](const std::string&) -> EngineResult
       {
         std::abort();
       }},
      {"exit",
       [](const std::string&) -> EngineResult
       {
         std::_Exit(0);
       }},
      {"hang",
       [](const std::string&) -> EngineResult
       {
         prctl(PR_SET_NAME, "hanging");

         for (;;)
         {
           pause();
         }
       }},
      {"descriptors",
       [](const std::string&)
       {
         return EngineResult::MakeTranscoded(ListDescriptors());
       }},
      {"process",
       [](const std::string&)
       {
         return EngineResult::MakeTranscoded(DescribeProcess());
       }},
      {"eat",
       [](const std::string&)
       {
         const std::string much(std::size_t(4) << 30, 'x');
         const volatile char& last = much.back();  // Clang leaves out what nobody reads
         return EngineResult::MakeTranscoded(std::string(1, last));
       }},
      {"garbage",
       [](const std::string&) -> EngineResult
       {
         static_cast<void>(write(OrthancPerf::WORKER_SOCKET, "garbage", 7));
         _exit(3);
       }},
      {"lie",
       [](const std::string&) -> EngineResult
       {
         // A well-formed answer, and less in the shared memory than it says
         OrthancPerf::WorkerResponse response;
         response.resultSize = 1000000;
         static_cast<void>(ftruncate(OrthancPerf::WORKER_MEMORY, 10));
         static_cast<void>(write(OrthancPerf::WORKER_SOCKET, &response, sizeof(response)));
         pause();
         _exit(3);
       }},
      {"nonsense",
       [](const std::string&) -> EngineResult
       {
         OrthancPerf::WorkerResponse response;
         response.outcome = 77;
         response.resultSize = ~std::uint64_t(0);
         static_cast<void>(write(OrthancPerf::WORKER_SOCKET, &response, sizeof(response)));
         pause();
         _exit(3);
       }},
  };

  // The deed is the source up to its first line break
  class MisbehavingEngine : public OrthancPerf::ITranscodingEngine
  {
  public:
    const char* GetName() const noexcept override
    {
      return "misbehaving";
    }

    EngineResult Transcode(const void* data, std::size_t size,
                           const OrthancPerf::TranscodingTarget&) const noexcept override
    {
      const std::string file(static_cast<const char*>(data), size);
      const std::string deed = file.substr(0, file.find('\n'));
      const auto answer = ANSWERS.find(deed);
      return answer == ANSWERS.end() ? DEEDS.at(deed)(file) : answer->second;
    }
  };
}

int main()
{
  return OrthancPerf::RunWorker(MisbehavingEngine());
}
