// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/StoreLookups.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  bool StoreLookups::Add(const InstanceIdentity& instance, OnAnswer onAnswer)
  {
    {
      const std::lock_guard<std::mutex> lock(mutex_);

      if (questions_.size() >= MAXIMUM)
      {
        return false;
      }

      questions_.push_back({instance, std::move(onAnswer)});
      countAdded_++;
    }

    added_.notify_one();
    return true;
  }


  void StoreLookups::AskNext(const StoreLookup& lookup, Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);

    if (!added_.wait_for(lock, patience, [this] { return !questions_.empty(); }))
    {
      return;
    }

    Question question = std::move(questions_.front());
    questions_.pop_front();

    lock.unlock();

    StoreAnswer answer;
    std::exception_ptr failure;

    try
    {
      answer = lookup(question.instance);
    }
    catch (const std::exception&)
    {
      failure = std::current_exception();
    }

    try
    {
      question.onAnswer(answer);
    }
    catch (const std::exception&)
    {
      failure = std::current_exception();
    }

    question.onAnswer = nullptr;  // with what it keeps: who waits for the answer finds it gone
    CountAnswer();

    if (failure)
    {
      std::rethrow_exception(failure);
    }
  }


  void StoreLookups::CountAnswer()
  {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      countAnswered_++;
    }

    answered_.notify_all();
  }


  void StoreLookups::WaitForAnswers(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    answered_.wait_for(lock, patience,
                       [this, added = countAdded_] { return countAnswered_ >= added; });
  }
}
