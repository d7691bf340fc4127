// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  struct AdmissionFigures
  {
    std::uint64_t limit = 0;             // bytes of memory; 0: off
    std::uint64_t held = 0;              // bytes reserved now
    std::uint64_t inFlight = 0;          // messages that count now
    std::uint64_t waiting = 0;           // of them, queued
    std::uint64_t waits = 0;             // messages that were queued, since the start
    Duration waited = Duration::zero();  // all of them together
    std::uint64_t givenUp = 0;           // messages admitted over the limit after the timeout
  };

  // A semaphore of bytes: a message that is larger than PIECE reserves memory before it is read
  // on, first come, first served. It is known by the file descriptor of its connection.
  //
  //   AdmissionQueue queue(4096);
  //   queue.Set(limit, timeout);
  //   queue.AskForPiece(fd, received, Clock::now());  // until the answer is not Wait
  //   queue.Close(fd);                                // answered, or the connection is closed
  //
  // The queue never blocks: the thread that reads a message asks, and asks again every few
  // milliseconds while it is told to wait (Network/AdmissionGate.h).
  //
  // A message is unknown, admitted, or queued. Each Ask, for the first piece as for a further one,
  // makes it admitted (Go) or queued (Wait); Close makes it unknown again:
  //
  //   unknown  -- Ask, rule 2, 3 or 4 --------> admitted    Go
  //   unknown  -- Ask, none of them ----------> queued      Wait
  //   admitted -- Ask, none of them ----------> queued      Wait
  //   queued   -- Ask, rule 2, 3 or 4 --------> admitted    Go
  //   queued   -- Ask, rule 5 ----------------> admitted    Go, for a little
  //   any      -- Close, the message is over -> unknown
  //
  //   1. Age. A message takes its place in "messages_" when it asks first, and keeps it until it
  //      is closed. The first one is the oldest.
  //   2. Room. A message is admitted if its reservation fits below the limit and no older message
  //      is queued.
  //   3. Progress. The oldest is always admitted, whatever it takes: there is no deadlock.
  //   4. Timeout. The head of the queue is the oldest queued message. Once it has been the head
  //      for the timeout, in all, it is admitted over the limit, for good.
  //   5. Keep-alive. Of a queued message that comes in pieces, SIP is read every SILENCE, and is
  //      reserved as well.
  //   6. Stop. After Stop(), a message that would be queued is broken off.
  //   7. Locking. "mutex_" guards everything but "isActive_", for some microseconds, and nothing
  //      is waited for and no other lock is taken meanwhile. "isActive_" is written with the lock
  //      and read without: it is all that the hooks look at while there is no limit.
  //   8. Memory. Nothing is allocated after construction.
  //
  // Owned by the probe. Any thread; one at a time for a descriptor.
  class AdmissionQueue
  {
  public:
    // Messages up to this size neither count nor wait. Larger ones ask for as much at a time,
    // unless their size is known.
    static constexpr std::uint64_t PIECE = std::uint64_t{4} * 1024 * 1024;

    // How often Orthanc holds an instance in memory while it stores it. Measured with 1.10.1 of
    // Debian 12 and an uncompressed instance of 524 MB: by C-STORE, HTTP and chunked HTTP alike,
    // the most that the process had (VmHWM of proc(5)) was 1,537 MB more than at rest.
    static constexpr std::uint64_t COPIES = 3;

    // DCMTK and pynetdicom give up when nothing could be written for 60 s. Linux lets them write
    // once a third of their send buffer is free (sk_stream_is_writeable): 1.4 MB of 4 MB, the most
    // by default (tcp_wmem of tcp(7)), which two sips are. Orthanc gives up after 30 s
    // (DicomScpTimeout) in the middle of a PDU, of which a sip holds the rest.
    static constexpr Duration SILENCE = std::chrono::seconds(20);
    static constexpr std::uint64_t SIP = std::uint64_t{1024} * 1024;

    enum class Answer
    {
      Go,
      Wait,     // and ask again soon
      BreakOff  // Orthanc stops
    };

    // "Go" is good until so many bytes of the message are there
    struct Reply
    {
      Answer answer;
      std::uint64_t upTo;
    };

    static constexpr std::uint64_t ALL = std::numeric_limits<std::uint64_t>::max();

    // "capacity": of messages; further ones are not limited
    explicit AdmissionQueue(std::size_t capacity);

    // In force at once, also for queued messages. 0: there is no limit.
    void Set(std::uint64_t limit, Duration timeout) noexcept;

    void Stop() noexcept;

    // Forgets all messages; while nobody asks
    void Clear() noexcept;

    // False: there is nothing to ask, and nothing to close
    bool IsActive() const noexcept
    {
      return isActive_.load(std::memory_order_relaxed);
    }

    // So many bytes of a message are there, at least one: may a further piece be read?
    Reply AskForPiece(int fd, std::uint64_t received, TimePoint now) noexcept;

    // A message of this size is about to come, for which Orthanc makes room at once
    Reply AskForAll(int fd, std::uint64_t size, TimePoint now) noexcept;

    // Orthanc is done with what came so far of the message, and more will come: that part is free,
    // and the message keeps its age
    void Release(int fd) noexcept;

    // The message is over
    void Close(int fd) noexcept;

    AdmissionFigures GetFigures() const noexcept;

  private:
    struct Message
    {
      int fd;
      std::uint64_t bytes;                 // reserved, before COPIES
      TimePoint askedAt;                   // the last time
      TimePoint queuedAt;                  // if it is queued
      Duration atHead = Duration::zero();  // of the queue, in all
      bool isQueued = false;
      bool wasQueued = false;
      bool isOverLimit = false;  // by rule 4
    };

    using Messages = std::vector<Message>;

    Reply Ask(int fd, std::uint64_t received, std::uint64_t wanted, TimePoint now) noexcept;
    Messages::iterator Find(int fd) noexcept;
    Messages::iterator FindHead() noexcept;
    Messages::iterator Enter(int fd, std::uint64_t received, TimePoint now) noexcept;
    bool MayGo(Messages::iterator message, std::uint64_t wanted) noexcept;
    void CountWait(Messages::iterator message, TimePoint now) noexcept;
    void Queue(Message& message, TimePoint now) noexcept;
    void Reserve(Message& message, std::uint64_t bytes) noexcept;
    void UpdateActivity() noexcept;

    const std::size_t capacity_;
    std::atomic<bool> isActive_ = false;

    mutable std::mutex mutex_;
    Messages messages_;  // the oldest first
    Duration timeout_ = Duration::zero();
    bool isStopped_ = false;
    AdmissionFigures figures_;
  };
}
