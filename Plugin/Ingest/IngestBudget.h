// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/SenderSips.h"
#include "Ingest/WaitingLine.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace OrthancPerf
{
  // What the budget has seen so far
  struct BudgetFigures
  {
    std::uint64_t limit = 0;             // bytes; 0: there is no budget
    std::uint64_t held = 0;              // bytes that count now
    std::uint64_t inFlight = 0;          // messages that count now
    std::uint64_t waiting = 0;           // of them, at their sockets
    std::uint64_t waits = 0;             // messages that had to wait, since the start
    Duration waited = Duration::zero();  // all of them together, those that wait now as well
    std::uint64_t givenUp = 0;           // messages let on as they had waited for as long as may be
    std::uint64_t passedFullLine = 0;    // messages let on as so many waited already as may
    std::uint64_t brokenOff = 0;         // waits that ended with their sender, or with Orthanc
  };


  // Which of the messages in flight may take more memory, while together they take more than they
  // are to: the oldest one goes on, the others wait until there is room, one after the other. It
  // waits for nothing itself: whoever reads a message asks before it reads on, and asks again while
  // it is told to wait.
  //
  // Nobody waits for ever, and nobody is let on altogether while there is no room, or those who
  // began together would be so together: who has waited for as long as a message may gets on
  // slowly, the oldest first. See PIECES_WITHOUT_ROOM.
  //
  // A message has the place of its connection: its file descriptor. One thread at a time has it,
  // and asks, marks, breaks off and closes; the rest is for any thread. As long as there is room
  // and nobody is in the line, no call takes a lock; none allocates. Owned by the probe.
  class IngestBudget
  {
  public:
    // Room is asked for in pieces of this size. Messages that have no more than one, which are
    // nearly all there are, neither count nor wait.
    static constexpr std::uint64_t PIECE = std::uint64_t{4} * 1024 * 1024;

    // How often Orthanc holds an instance in memory while it stores it. Measured with 1.10.1 of
    // Debian 12 and an uncompressed instance of 524 MB: by C-STORE, HTTP and chunked HTTP alike,
    // the most that the process had (VmHWM of proc(5)) was 1,537 MB more than at rest.
    static constexpr std::uint64_t COPIES = 3;

    // The oldest message goes before the others only as long as a piece of it comes in this time,
    // which has to be longer than DCMTK takes to copy a large one that is all there
    static constexpr Duration PATIENCE = std::chrono::seconds(20);

    // Who keeps the oldest message's place longer than a message may wait, while others do, and
    // sends less than this in a second, goes to the end of the line
    static constexpr std::uint64_t SLOW = std::uint64_t{1024} * 1024;

    // What messages that have waited for long enough may take in a second, all together, while
    // there is no room. Those that come in pieces: slower than the oldest comes on usual networks,
    // so that it is over before much of the next one is there. Uploads are asked for as a whole,
    // and their clients have a time-out for all of it: 500 MB every 8 s, no less often than one in
    // LONGEST_GAP, and one at a time, as Orthanc may take longer than that to store them. Who has
    // waited for HARD_END times as long as a message may does not wait for the one before it.
    static constexpr std::uint64_t PIECES_WITHOUT_ROOM = PIECE;
    static constexpr std::uint64_t UPLOADS_WITHOUT_ROOM = 16 * PIECE;
    static constexpr Duration LONGEST_GAP = std::chrono::seconds(30);
    static constexpr std::int64_t HARD_END = 3;

    enum class Answer
    {
      Go,
      Wait,     // and ask again soon
      BreakOff  // no more of it is to be read: Orthanc stops, or the sender is gone
    };

    // "Go" is good until so many bytes of the message are there. ALL: there is nothing to ask for
    // before it is over.
    struct Reply
    {
      Answer answer;
      std::uint64_t upTo;
    };

    static constexpr std::uint64_t ALL = std::numeric_limits<std::uint64_t>::max();

    using Sender = SenderSips::Sender;

    // Descriptors from "places" on are not budgeted
    explicit IngestBudget(std::size_t places);

    // In force at once, for those who wait as well. 0: there is no budget. "bound": what one
    // message may wait in all.
    void Set(std::uint64_t limit, Duration bound);

    // How many may wait at once, as each keeps a thread of Orthanc's. The next one is let on; for
    // an upload, the one that has waited longest, in whose place it waits. Who waits has its place
    // in the line until there is room for it: where a sip or a piece without room gave it up, all
    // would be let on in turn.
    void SetPlacesInLine(std::uint64_t ofDicom, std::uint64_t ofHttp) noexcept;

    // What DCMTK waits for the rest of a PDU (DicomScpTimeout), and CivetWeb for that of a record
    // of TLS (HttpRequestTimeout), the time in which nothing is read of it included; zero: any
    // time. Senders are read a sip in time for that.
    void SetReadTimeouts(Duration ofDicom, Duration ofHttp) noexcept;

    // From now on nobody waits: who would have to is broken off
    void Stop() noexcept;

    // No message counts any more; while nobody asks
    void Clear() noexcept;

    bool IsOn() const noexcept
    {
      return limit_.load() != 0;
    }

    // Whether there is nothing to ask for, and nothing to close
    bool IsIdle() const noexcept
    {
      return work_.load(std::memory_order_relaxed) == 0;
    }

    // So many bytes of the message at this place are there: may a further piece come?
    Reply AskForPiece(int place, std::uint64_t bytes, TimePoint now, const Sender& sender) noexcept;

    // So many bytes of an upload will come, for which Orthanc makes room before the first one does.
    // Once it is let on, it is not held back any more, whatever is set until it is there: with a
    // budget, its pieces are asked for as they show that it comes.
    Reply AskForAll(int place, std::uint64_t bytes, TimePoint now) noexcept;

    // An instance of so many bytes came of the message, which may have had fewer (gzip, ZIP). It
    // is in memory, so it waits for nothing; but others do, as it counts.
    void CountInstance(int place, std::uint64_t bytes, TimePoint now) noexcept;

    // An instance of the message is in memory: until more of it comes, Orthanc is at work on it,
    // and it has no place in the line. True: the message counts, and more of it may come.
    bool MarkComplete(int place, TimePoint now) noexcept;

    // The sender of a message that waits is gone
    void BreakOff(int place, TimePoint now) noexcept;

    // What came of a message so far, so many bytes, is done with, and more may come: what it took
    // is free, but it keeps its age and how long it has waited. Parts that are too small to count
    // are no progress. False, and nothing done, if it was asked for as a whole.
    bool CloseParts(int place, std::uint64_t bytes, TimePoint now) noexcept;

    // More of the message is about to be read: the same, if an instance of it was in memory, as
    // Orthanc is done with that one. False: nothing done.
    bool CloseCompletePart(int place, std::uint64_t bytes, TimePoint now) noexcept;

    // The message is over: what it took is free
    void Close(int place, TimePoint now) noexcept;

    BudgetFigures GetFigures(TimePoint now = Clock::now()) const noexcept;

  private:
    // Those who wait: for the next piece, or for a whole upload
    enum Lane : std::size_t
    {
      PIECES,
      UPLOADS
    };

    // What is asked for. "received": what is there already; 0: nothing is read before all of it is
    // granted.
    struct Demand
    {
      std::uint64_t bytes;
      std::uint64_t received;
      Sender sender;
    };

    // What is not atomic is its thread's, or written and read with the line's lock
    struct Ticket : WaitingLine::Waiter
    {
      std::atomic<std::uint64_t> age = 0;  // the smallest is the oldest; 0: there is no message
      std::atomic<std::int64_t> progressAt = 0;
      std::atomic<bool> isComplete = false;
      std::atomic<bool> isBeyond = false;  // an upload let on without room, or before others
      bool isAnnounced = false;            // it has all that it will take
      bool isBroken = false;
      bool hasGivenUp = false;
      bool hasPassed = false;  // by a full line
      SenderSips sips;
      std::uint64_t bytes = 0;         // that it may have
      TimePoint completeSince;         // if it is
      TimePoint placeSince;            // when it got its place; waits and storing put that off
      std::uint64_t bytesAtPlace = 0;  // received by then
      std::uint64_t bytesOfParts = 0;  // received since then, and done with
      bool isToPass = false;           // while it waits; the line's
      Lane lane = PIECES;              // the line's
    };

    Ticket* Find(int place) noexcept;
    bool IsToAsk(Ticket* ticket, std::uint64_t received, TimePoint now) noexcept;
    void Enter(Ticket& ticket, std::uint64_t received, TimePoint now) noexcept;
    void LeavePlaceIfSlow(Ticket& ticket, std::uint64_t received, TimePoint now) noexcept;
    Reply Ask(Ticket& ticket, const Demand& demand, TimePoint now) noexcept;
    bool TakeAtOnce(Ticket& ticket, std::uint64_t bytes) noexcept;
    Reply AskInLine(Ticket& ticket, const Demand& demand, TimePoint now) noexcept;
    bool IsTurnOf(Ticket& ticket, const Demand& demand, TimePoint now) noexcept;
    bool MayOvertake(Ticket& ticket, const Demand& demand) noexcept;
    bool MayAdvance(const Ticket& ticket, std::uint64_t bytes, TimePoint now) noexcept;
    void Advance(Ticket& ticket, std::uint64_t bytes) noexcept;
    bool IsHeldUp(const Ticket& ticket, TimePoint now) const noexcept;
    std::uint64_t TakeSip(Ticket& ticket, const Demand& demand, TimePoint now) noexcept;
    static Duration CountWaited(const Ticket& ticket, TimePoint now) noexcept;
    bool IsOverdue(const Ticket& ticket, TimePoint now) const noexcept;
    static bool IsAtWork(const Ticket& ticket, TimePoint now) noexcept;
    bool LetFirstUploadOn(const Demand& demand) noexcept;
    void PassFullLine(Ticket& ticket, const Demand& demand) noexcept;
    void Take(Ticket& ticket, std::uint64_t bytes) noexcept;
    bool TryTake(Ticket& ticket, std::uint64_t bytes, std::uint64_t limit) noexcept;
    Reply Give(Ticket& ticket, std::uint64_t bytes, TimePoint now) noexcept;
    Reply Break(Ticket& ticket, TimePoint now) noexcept;
    void Release(Ticket& ticket) noexcept;
    bool IsNext(const Ticket& ticket, const Demand& demand, TimePoint now) const noexcept;
    bool IsFirst(const Ticket& ticket, TimePoint now) const noexcept;
    void BeginWait(Ticket& ticket, const Demand& demand, TimePoint now) noexcept;
    void EndWait(Ticket& ticket, TimePoint now) noexcept;
    void Dismiss(Ticket& ticket, TimePoint now) noexcept;

    template <typename Judge>
    bool HasAny(const Judge& judge) const noexcept;

    template <typename Judge>
    bool HasOlder(const Ticket& ticket, const Judge& judge) const noexcept;

    const std::size_t places_;
    const std::unique_ptr<Ticket[]> tickets_;
    std::atomic<std::size_t> used_ = 0;  // no place from here on was ever used

    std::atomic<std::uint64_t> work_ = 0;  // 1 if there is a limit, and 2 for each message
    std::atomic<std::uint64_t> limit_ = 0;
    std::atomic<std::int64_t> bound_ = 0;
    std::atomic<std::int64_t> silenceOfDicom_ = SenderSips::SILENCE.count();
    std::atomic<std::int64_t> silenceOfHttp_ = SenderSips::SILENCE.count();
    std::atomic<bool> isStopped_ = false;
    std::atomic<std::uint64_t> held_ = 0;
    std::atomic<std::uint64_t> nextAge_ = 1;

    mutable WaitingLine line_;
    std::array<TimePoint, 2> nextAdvance_ = {};  // of each lane; the line's
    std::atomic<std::uint64_t> givenUp_ = 0;
    std::atomic<std::uint64_t> passedFullLine_ = 0;
    std::atomic<std::uint64_t> brokenOff_ = 0;
  };
}
