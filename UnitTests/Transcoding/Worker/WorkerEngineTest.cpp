// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerEngine.h"
#include "Allocations.h"
#include "BuildPaths.h"
#include "Threads.h"
#include "Transcoding/ImageFile.h"
#include "Transcoding/Native/NativeEngine.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    const TranscodingTarget TARGET = {"1.2.840.10008.1.2.4.70", 90};

    // Its deeds are listed in TestWorker/Main.cpp
    class Misbehaving : public WorkerEngine
    {
    public:
      explicit Misbehaving(std::size_t maximum = 1, const WorkerLimits& limits = {}) :
        WorkerEngine("misbehaving", BuildPaths::GetTestWorker(), maximum, limits)
      {
      }

      EngineResult Do(const std::string& deed, const TranscodingTarget& target = TARGET) const
      {
        return WorkerEngine::Transcode(deed.data(), deed.size(),
                                       target);  // also while it is destroyed
      }

      std::string GetReason(const std::string& deed) const
      {
        const EngineResult result = Do(deed);
        EXPECT_EQ(result.outcome, TranscodingOutcome::Failed);
        EXPECT_TRUE(result.file.empty());
        return result.reason;
      }

      std::string GetFile(const std::string& deed) const
      {
        const EngineResult result = Do(deed);
        EXPECT_EQ(result.outcome, TranscodingOutcome::Transcoded) << result.reason;
        EXPECT_EQ(result.reason, "");
        return result.file;
      }

      // Of the process that serves the next call
      pid_t GetPid() const
      {
        return std::stoi("0" + GetFile("pid"));
      }
    };

    // A program of one line, as long as this object
    class Script
    {
    public:
      explicit Script(const std::string& line) :
        path_(std::filesystem::temp_directory_path() / ("perf-" + std::to_string(getpid())))
      {
        std::ofstream(path_) << "#!/bin/sh\n" << line << "\n";
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
      }

      Script(const Script&) = delete;
      Script& operator=(const Script&) = delete;

      ~Script()
      {
        std::filesystem::remove(path_);
      }

      const std::filesystem::path& GetPath() const
      {
        return path_;
      }

      // As engines call it
      std::string GetName() const
      {
        return "the program " + path_.filename().string();
      }

    private:
      const std::filesystem::path path_;
    };

    // Until the worker is at the deed "hang"
    void WaitUntilHanging(pid_t pid)
    {
      std::string name;

      while (name != "hanging")
      {
        std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
        std::getline(file, name);
        std::this_thread::yield();
      }
    }

    // Also a process that has ended is one, until it is waited for
    bool IsProcess(pid_t pid)
    {
      return kill(pid, 0) == 0;
    }

    // Runs a call that would take 30 s, and "end" once it is under way
    std::string Interrupt(const Misbehaving& engine, const std::function<void()>& end)
    {
      EngineResult result;
      const pid_t pid = engine.GetPid();
      std::thread caller([&] { result = engine.Do("hang"); });
      WaitUntilHanging(pid);
      end();
      caller.join();
      return result.reason;
    }
  }

  TEST(WorkerEngine, FilesComeBackAsTheEngineHasMadeThem)
  {
    const Misbehaving misbehaving;

    // Around the memory that a worker keeps (16 MiB), large to small and small to large
    for (const std::size_t size : {5, 600000, 20000000, 7, 17000000, 16777216})
    {
      std::string file = "echo\n" + std::string(size - 5, 'x');

      for (std::size_t i = 5; i < size; i += 997)
      {
        file[i] = static_cast<char>(i);
      }

      EXPECT_TRUE(misbehaving.GetFile(file) == file) << size;
    }
  }

#if !defined(PERF_SANITIZED)
  TEST(WorkerEngine, WithoutMemoryACallFailsAndTheNextOneDoesNot)
  {
    const Misbehaving misbehaving;
    const std::string file = "echo\n" + std::string(1000, 'x');

    // While no process runs yet, and when one does
    for (int i = 0; i < 2; i++)
    {
      EngineResult result;

      {
        const NoMemory noMemory;
        result = misbehaving.Do(file);
      }

      EXPECT_EQ(result.outcome, TranscodingOutcome::Failed);
      EXPECT_EQ(result.reason, "No memory");
      EXPECT_EQ(misbehaving.GetFile(file), file);
    }
  }
#endif

  TEST(WorkerEngine, OneWorkerServesUntilItFailsAndThenAFreshOne)
  {
    const std::string program = "the program TestWorker ";
    WorkerLimits limits;
    limits.result = std::uint64_t(1) << 20;
    const Misbehaving misbehaving(1, limits);
    pid_t pid = misbehaving.GetPid();
    EXPECT_NE(pid, getpid());
    const EngineResult declined = misbehaving.Do("decline");
    EXPECT_EQ(declined.outcome, TranscodingOutcome::Declined);
    EXPECT_EQ(declined.reason, "not this one");
    EXPECT_EQ(misbehaving.GetPid(), pid);

    // It may have failed for want of memory that it keeps itself. No deed is named "": there, the
    // engine breaks its word not to throw.
    for (const auto& [deed, reason] : std::vector<std::pair<std::string, std::string>>{
             {"fail", std::string(WORKER_REASON_LENGTH, 'x')},
             {"curse", "a??? z"},
             {"crash", program + "ended by signal 11 (Segmentation fault)"},
             {"abort", program + "ended by signal 6 (Aborted)"},
             {"", program + "ended by signal 6 (Aborted)"},
             {"exit", program + "ended with exit code 0"},
             {"garbage", program + "ended with exit code 3"},
             {"nonsense", program + "sent an invalid answer"},
             {"lie" + std::string(100000, ' '), program},
             {"oversized", "the result would be larger th"}})
    {
      EXPECT_EQ(misbehaving.GetReason(deed).substr(0, reason.size()), reason);
      const pid_t next = misbehaving.GetPid();
      EXPECT_NE(next, pid) << deed.substr(0, 10);
      EXPECT_FALSE(IsProcess(pid)) << deed.substr(0, 10);
      pid = next;
    }
  }

  TEST(WorkerEngine, AWorkerInheritsNothing)
  {
    const Misbehaving misbehaving;
    const FileDescriptor inheritable(open("/dev/null", O_RDONLY));
    ASSERT_GE(inheritable.Get(), 0);
    static_cast<void>(signal(SIGPIPE, SIG_IGN));
    sigset_t mask;
    sigset_t before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, &before);

    EXPECT_EQ(misbehaving.GetFile("process"), "SIGPIPE as usual, no mask, no core");
    EXPECT_EQ(misbehaving.GetFile("descriptors"), "0 1 2 3 4 ");

    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    static_cast<void>(signal(SIGPIPE, SIG_DFL));
  }

  TEST(WorkerEngine, AProgramThatIsNoWorkerIsAProblem)
  {
    const auto explain = [](const std::filesystem::path& path)
    {
      WorkerLimits limits;
      limits.startup = std::chrono::milliseconds(100);
      return WorkerEngine("dcmtk", path, 1, limits).GetProblem();
    };
    const std::string missing =
        "the program OrthancPerfDcmtk cannot be started: /nonexistent/OrthancPerfDcmtk: No such "
        "file or directory";
    EXPECT_EQ(explain("/nonexistent/OrthancPerfDcmtk"), missing);
    const EngineResult result =
        WorkerEngine("dcmtk", "/nonexistent/OrthancPerfDcmtk", 1).Transcode("x", 1, TARGET);
    EXPECT_EQ(result.outcome, TranscodingOutcome::Failed);
    EXPECT_EQ(result.reason, missing);
    EXPECT_EQ(WorkerEngine("dcmtk", "/bin/true", 1).GetProblem(),
              "the program true does not start: it ended with exit code 0");

    {
      const Script script("exit 127");  // what the dynamic linker makes of it
      EXPECT_EQ(WorkerEngine("dcmtk", script.GetPath(), 1).GetProblem(),
                script.GetName() + " does not start: a library that it needs is missing (see ldd)");
      std::filesystem::permissions(script.GetPath(), std::filesystem::perms::owner_read);
      EXPECT_EQ(explain(script.GetPath()), script.GetName() + " cannot be started: " +
                                               script.GetPath().string() + ": Permission denied");
    }

    const Script silent("exec sleep 600");
    EXPECT_EQ(explain(silent.GetPath()), silent.GetName() + " did not answer within 100 ms");
  }

  TEST(WorkerEngine, AHangingWorkerIsKilledWhenItsTimeIsOver)
  {
    WorkerLimits limits;
    limits.time = std::chrono::seconds(1);
    const Misbehaving misbehaving(1, limits);
    const pid_t first = misbehaving.GetPid();
    EXPECT_EQ(misbehaving.GetReason("hang"), "the program TestWorker did not answer within 1 s");
    EXPECT_FALSE(IsProcess(first));
    EXPECT_NE(misbehaving.GetPid(), first);

    // Or that of its instance, which comes first
    TranscodingTarget target = TARGET;
    target.deadline = Clock::now() + std::chrono::seconds(1);
    EXPECT_EQ(Misbehaving().Do("hang", target).outcome, TranscodingOutcome::Failed);
    EXPECT_LT(Clock::now() - target.deadline, std::chrono::seconds(10));
  }

#if !defined(PERF_SANITIZED)
  TEST(WorkerEngine, AWorkerGetsNoMoreMemoryThanTheLimit)
  {
    const Misbehaving misbehaving;
    EXPECT_NE(misbehaving.GetReason("eat"), "");
    EXPECT_GT(misbehaving.GetPid(), 0);
  }
#endif

  TEST(WorkerEngine, AnIdleWorkerKilledFromOutsideIsReplacedAndLeavesNoZombie)
  {
    Misbehaving engine;
    const pid_t first = engine.GetPid();
    kill(first, SIGKILL);

    // It has ended, and nobody has waited for it
    siginfo_t info = {};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &info, WEXITED | WNOWAIT), 0);
    const pid_t second = engine.GetPid();
    EXPECT_NE(second, first);
    EXPECT_FALSE(IsProcess(first));
    kill(second, SIGKILL);
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(second), &info, WEXITED | WNOWAIT), 0);
    engine.Tidy(TimePoint::min());
    EXPECT_FALSE(IsProcess(second));
  }

  TEST(WorkerEngine, AStrangersWaitIsCopedWith)
  {
    static_cast<void>(signal(SIGCHLD, SIG_IGN));  // the kernel waits for all children
    {
      const Misbehaving misbehaving;
      EXPECT_EQ(misbehaving.GetReason("crash"), "the program TestWorker ended unexpectedly");
      EXPECT_GT(misbehaving.GetPid(), 0);
    }
    static_cast<void>(signal(SIGCHLD, SIG_DFL));
  }

  TEST(WorkerEngine, ManyThreadsShareAFewWorkersAndCrashesHurtOnlyThemselves)
  {
    const Misbehaving misbehaving(3);
    std::set<pid_t> pids;
    std::mutex mutex;
    const auto echo = [&misbehaving](int i, int j)
    {
      const std::string file = "echo\n" + std::string(1000 * i + j, static_cast<char>(i + j));
      EXPECT_TRUE(misbehaving.GetFile(file) == file);
    };
    RunOnThreads(16,
                 [&](int i)
                 {
                   for (int j = 0; j < 20; j++)
                   {
                     const pid_t pid = misbehaving.GetPid();
                     echo(i, j);
                     const std::lock_guard<std::mutex> lock(mutex);
                     pids.insert(pid);
                   }
                 });
    EXPECT_LE(pids.size(), 3u);
    RunOnThreads(8,
                 [&](int i)
                 {
                   for (int j = 0; j < 10; j++)
                   {
                     if ((i + j) % 3 == 0)
                     {
                       const std::string reason = misbehaving.GetReason("crash");
                       EXPECT_NE(reason.find("signal 11"), std::string::npos) << reason;
                     }
                     else
                     {
                       echo(i, j);
                     }
                   }
                 });
  }

  TEST(WorkerEngine, NoProcessIsLeftBehind)
  {
    std::vector<pid_t> pids;
    {
      const Misbehaving misbehaving(2);

      for (const char* deed : {"crash", "decline"})
      {
        pids.push_back(misbehaving.GetPid());
        misbehaving.Do(deed);
      }

      EXPECT_TRUE(IsProcess(pids.back()));
    }

    for (const pid_t pid : pids)
    {
      EXPECT_FALSE(IsProcess(pid));
    }
  }

  TEST(WorkerEngine, StoppingEndsTheWorkUnderWayAndTheWaitForAWorker)
  {
    constexpr const char* STOPPED = "the program TestWorker is being stopped";

    for (const bool isDestroyed : {false, true})
    {
      auto engine = std::make_unique<Misbehaving>();
      const pid_t pid = engine->GetPid();
      const auto stop = [&]
      {
        EngineResult waiting;
        std::thread other([&] { waiting = engine->Do("echo"); });
        engine->Stop();
        other.join();
        EXPECT_EQ(waiting.reason, STOPPED);
        EXPECT_EQ(engine->Do("echo").reason, STOPPED);
      };
      EXPECT_EQ(Interrupt(*engine, [&] { isDestroyed ? engine.reset() : stop(); }), STOPPED);
      EXPECT_FALSE(IsProcess(pid));
    }
  }

  TEST(WorkerEngine, AWorkerOutlivesItsThreadAndTheSignalsThatAreMeantForItsParent)
  {
    const Misbehaving misbehaving;
    pid_t first = 0;
    std::thread([&] { first = misbehaving.GetPid(); }).join();

    for (const int signal : {0, SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    {
      kill(first, signal);
      EXPECT_EQ(misbehaving.GetPid(), first) << signal;
    }
  }

  TEST(WorkerEngine, AWorkerDoesNotOutliveItsParent)
  {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // to wait for the child's child
    std::array<int, 2> ends = {};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t parent = fork();

    if (parent == 0)
    {
      const Misbehaving engine;
      pid_t pid = engine.GetPid();
      static_cast<void>(write(ends[1], &pid, sizeof(pid)));
      engine.Do("hang");
      _exit(1);
    }

    pid_t worker = -1;
    ASSERT_EQ(read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
    kill(parent, SIGKILL);
    EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
    EXPECT_EQ(waitpid(worker, nullptr, 0), worker);  // would never end if the worker did not
    close(ends[0]);
    close(ends[1]);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  TEST(WorkerEngine, TheDeadlineCountsAlsoWhileAllWorkersAreBusy)
  {
    Misbehaving engine;
    TranscodingTarget target = TARGET;
    Interrupt(engine,
              [&]
              {
                target.deadline = Clock::now() + std::chrono::milliseconds(50);
                EXPECT_EQ(engine.Do("echo", target).reason,
                          "the program TestWorker was busy with other instances until the time for "
                          "this one was over");
                EXPECT_EQ(engine.Do("echo", target).outcome, TranscodingOutcome::Failed);
                EXPECT_LT(Clock::now() - target.deadline, std::chrono::seconds(10));
                engine.Stop();
              });
    EXPECT_LT(Clock::now() - target.deadline, std::chrono::seconds(10));
  }

  TEST(WorkerEngine, TheDeadlineCountsAlsoForAConverterThatDoesNotStart)
  {
    const Script script("exec sleep 600");
    WorkerLimits limits;
    limits.startup = std::chrono::seconds(60);
    const WorkerEngine converter("dcmtk", script.GetPath(), 1, limits);

    ImageFile image;
    image.transferSyntax = "1.2.840.10008.1.2";
    const std::string file = image.Make();
    TranscodingTarget target = TARGET;
    target.deadline = Clock::now() + std::chrono::milliseconds(100);
    const EngineResult result =
        NativeEngine({&converter}).Transcode(file.data(), file.size(), target);
    EXPECT_EQ(result.outcome, TranscodingOutcome::Failed);
    EXPECT_LT(Clock::now() - target.deadline, std::chrono::seconds(30));
  }

  TEST(WorkerEngine, TidyingEndsACallThatHangsButNotTheEngineIfOthersAnswer)
  {
    Misbehaving engine(2);
    const auto tidy = [&engine]
    {
      const TimePoint begun = Clock::now();
      engine.Tidy(begun - std::chrono::hours(1));
      engine.Do("echo");
      engine.Tidy(begun);
    };
    EXPECT_EQ(Interrupt(engine, tidy), "the program TestWorker is being stopped");
    EXPECT_EQ(engine.Do("echo").reason, "");
  }

  // Or an Orthanc that stops would wait as long for each instance of an archive
  TEST(WorkerEngine, AnEngineThatOnlyHangsIsNotAskedAgain)
  {
    Misbehaving engine;
    std::thread waiting;
    EngineResult result;
    Interrupt(engine,
              [&]
              {
                waiting = std::thread([&] { result = engine.Do("echo"); });
                engine.Tidy(Clock::now());
              });
    waiting.join();
    EXPECT_EQ(result.reason, "the program TestWorker is being stopped");
  }

  TEST(WorkerEngine, TidyingEndsTheWaitForAProgramThatSaysNothing)
  {
    const Script script("exec sleep 600");
    WorkerEngine engine("dcmtk", script.GetPath(), 1);
    std::string problem;
    std::thread caller([&] { problem = engine.GetProblem(); });
    const std::future<void> isOver = std::async(std::launch::async, [&] { caller.join(); });

    while (isOver.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
    {
      engine.Tidy(Clock::now());
    }

    EXPECT_EQ(problem, script.GetName() + " is being stopped");
  }

  TEST(WorkerChannel, AWorkerIsOfThePluginsBuildAndItsAnswerOfAKnownKindAndSize)
  {
    WorkerHello hello;
    EXPECT_FALSE(IsOfThisBuild(hello));
    SetText(hello.version, "0.0.1");
    EXPECT_FALSE(IsOfThisBuild(hello));
    SetText(hello.version, PERF_VERSION);
    EXPECT_TRUE(IsOfThisBuild(hello));

    WorkerLimits limits;
    limits.result = 100;
    WorkerResponse response;
    response.resultSize = 100;
    response.outcome = static_cast<std::uint32_t>(TranscodingOutcome::Failed);
    EXPECT_TRUE(IsPlausible(response, limits));
    response.resultSize++;
    EXPECT_FALSE(IsPlausible(response, limits));
    EXPECT_TRUE(IsPlausible(response, {}));
    response.outcome++;
    EXPECT_FALSE(IsPlausible(response, {}));

    WorkerText field;
    field.fill('x');
    EXPECT_EQ(std::string(field.size(), 'x'), GetText(field));
  }
}
