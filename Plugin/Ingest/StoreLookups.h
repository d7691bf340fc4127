// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DicomFile.h"
#include "Ingest/Clock.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // Orthanc's identifier of an instance, empty if the store does not hold it; nothing: nobody can
  // tell
  using StoreAnswer = std::optional<std::string>;

  // May take as long as the database does
  using StoreLookup = std::function<StoreAnswer(const InstanceIdentity&)>;


  // Questions to Orthanc's store, which a thread of its own asks, one after the other: a database
  // that is far away or hangs keeps nobody else waiting. Owned by the plugin's context; any thread
  // may call it but for AskNext.
  class StoreLookups
  {
  public:
    // Questions that wait, of some hundred bytes and what their answer keeps; beyond that none is
    // taken, so that memory stays bounded
    static constexpr std::size_t MAXIMUM = 1024;

    // Called on the asking thread
    using OnAnswer = std::function<void(const StoreAnswer& answer)>;

    // False, and nothing done, if too many wait already
    bool Add(const InstanceIdentity& instance, OnAnswer onAnswer);

    // Asks the next question, for which it waits so long at most. By one thread. Throws what
    // the lookup throws, for which there is no answer, or OnAnswer; the question is over then.
    void AskNext(const StoreLookup& lookup, Duration patience);

    // Returns once all that was added before is answered, or after so long
    void WaitForAnswers(Duration patience);

  private:
    void CountAnswer();

    struct Question
    {
      InstanceIdentity instance;
      OnAnswer onAnswer;
    };

    std::mutex mutex_;
    std::condition_variable added_;
    std::condition_variable answered_;
    std::deque<Question> questions_;
    std::uint64_t countAdded_ = 0;
    std::uint64_t countAnswered_ = 0;
  };
}
