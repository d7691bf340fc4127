// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  // A thread with a timer and a queue, for work that is repeated and work that is posted once.
  //
  //   BackgroundThread thread;
  //   thread.Repeat(std::chrono::seconds(5), [&] { advisor.Advise(); });
  //   thread.Post([&] { answer.Set(orthanc.ListJobTypes()); });
  //
  // The plugin's context owns three. One is for work that ends soon. The others are for questions
  // to Orthanc that wait for its database: one that hangs holds up the next, so a caller that needs
  // an answer waits for it with a timeout. Health has its own, as /statistics takes long.
  //
  // Work must not throw. Any thread may call anything. The destructor waits for work under way and
  // drops the rest.
  class BackgroundThread
  {
  public:
    using Work = std::function<void()>;

    BackgroundThread();
    BackgroundThread(const BackgroundThread&) = delete;
    BackgroundThread& operator=(const BackgroundThread&) = delete;
    ~BackgroundThread();

    // Once, as soon as possible, in the order of the calls
    void Post(Work work);

    // After this pause, which is longer than zero, and again after each pause
    void Repeat(Duration pause, Work work);

    // Repeats nothing from now on; posted work is still done. Waits for work under way, at most
    // this long.
    void StopRepeating(Duration patience);

  private:
    struct Entry
    {
      Work work;
      Duration pause;  // zero: once
    };

    void Add(Duration delay, Entry entry);
    void Run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<TimePoint, Entry> queue_;  // by due time
    bool isRepeating_ = true;
    bool isAtWork_ = false;
    bool isEnding_ = false;
    std::thread thread_;
  };

  // Has another thread ask, by means of "post", and waits for the answer, at most this long: the
  // caller itself must not wait for a lock. Nothing: there was no answer in time, or "ask" threw
  // std::exception, which the other thread gets as well. What nobody waits for is not asked.
  template <typename Answer, typename Post>
  std::optional<Answer> AskElsewhere(const Post& post, std::function<Answer()> ask,
                                     Duration patience)
  {
    const auto promise = std::make_shared<std::promise<Answer>>();
    const auto isGivenUp = std::make_shared<std::atomic<bool>>(false);
    std::future<Answer> answer = promise->get_future();
    post(
        [promise, isGivenUp, ask = std::move(ask)]
        {
          if (*isGivenUp)
          {
            return;
          }

          try
          {
            promise->set_value(ask());
          }
          catch (const std::exception&)
          {
            promise->set_exception(std::current_exception());
            throw;
          }
        });

    try
    {
      const bool isThere = answer.wait_for(patience) == std::future_status::ready;
      *isGivenUp = !isThere;
      return isThere ? std::optional<Answer>(answer.get()) : std::nullopt;
    }
    catch (const std::exception&)
    {
      return std::nullopt;
    }
  }
}
