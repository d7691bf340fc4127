// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestBudget.h"

#include <algorithm>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t HAS_LIMIT = 1;  // in work_
    constexpr std::uint64_t ONE_MESSAGE = 2;


    WaitingLine::Server GetServer(bool isHttp)
    {
      return isHttp ? WaitingLine::HTTP : WaitingLine::DICOM;
    }


    std::uint64_t CountBytes(std::uint64_t bytesInASecond, Duration duration)
    {
      return static_cast<std::uint64_t>(static_cast<double>(bytesInASecond) *
                                        std::chrono::duration<double>(duration).count());
    }
  }


  IngestBudget::IngestBudget(std::size_t places) :
    places_(places),
    tickets_(std::make_unique<Ticket[]>(places))
  {
    constexpr std::uint64_t ANY_NUMBER = std::numeric_limits<std::uint64_t>::max();
    SetPlacesInLine(ANY_NUMBER, ANY_NUMBER);
  }


  void IngestBudget::Set(std::uint64_t limit, Duration bound)
  {
    bound_.store(bound.count());
    limit_.store(limit);

    if (limit == 0)
    {
      work_.fetch_and(~HAS_LIMIT);
    }
    else
    {
      work_.fetch_or(HAS_LIMIT);
    }
  }


  void IngestBudget::SetPlacesInLine(std::uint64_t ofDicom, std::uint64_t ofHttp) noexcept
  {
    line_.SetPlaces(ofDicom, ofHttp);
  }


  void IngestBudget::SetReadTimeouts(Duration ofDicom, Duration ofHttp) noexcept
  {
    const auto count = [](Duration timeout)
    {
      constexpr Duration LONGEST = SenderSips::SILENCE;
      const bool isAny = timeout == Duration::zero();
      return (isAny ? LONGEST : std::min(LONGEST, timeout * 2 / 3)).count();
    };

    silenceOfDicom_.store(count(ofDicom));
    silenceOfHttp_.store(count(ofHttp));
  }


  void IngestBudget::Stop() noexcept
  {
    isStopped_.store(true);
  }


  void IngestBudget::Clear() noexcept
  {
    for (std::size_t place = 0; place < used_.load(); place++)
    {
      Close(static_cast<int>(place), Clock::now());
    }
  }


  IngestBudget::Reply IngestBudget::AskForPiece(int place, std::uint64_t bytes, TimePoint now,
                                                const Sender& sender) noexcept
  {
    Ticket* const ticket = Find(place);
    const std::uint64_t wanted = bytes + PIECE;

    if (!IsToAsk(ticket, bytes, now))
    {
      return {Answer::Go, wanted};
    }

    if (!line_.IsEmpty())
    {
      LeavePlaceIfSlow(*ticket, bytes, now);
    }

    if (ticket->isAnnounced)
    {
      return Give(*ticket, wanted, now);
    }

    ticket->isComplete.store(false);
    return Ask(*ticket, {wanted, bytes, sender}, now);
  }


  IngestBudget::Reply IngestBudget::AskForAll(int place, std::uint64_t bytes,
                                              TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);

    if (bytes <= PIECE)
    {
      return {Answer::Go, ALL};
    }

    if (!IsToAsk(ticket, 0, now))
    {
      if (ticket == nullptr || ticket->age.load() == 0)
      {
        return {Answer::Go, ALL};
      }

      // It waited until the budget was switched off. There may be one again before it is over.
      Take(*ticket, std::max(bytes, ticket->bytes));
      ticket->isAnnounced = true;
      return {Answer::Go, PIECE};
    }

    Sender sender;
    sender.isHttp = true;
    const Answer answer = Ask(*ticket, {bytes, 0, sender}, now).answer;
    ticket->isAnnounced = (answer == Answer::Go);
    return {answer, PIECE};
  }


  void IngestBudget::CountInstance(int place, std::uint64_t bytes, TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);

    if (bytes > PIECE && IsToAsk(ticket, 0, now) && bytes > ticket->bytes)
    {
      Take(*ticket, bytes);
    }
  }


  bool IngestBudget::MarkComplete(int place, TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);
    const bool doesCount = ticket != nullptr && ticket->age.load() != 0;

    if (doesCount && !ticket->isComplete.load())
    {
      ticket->completeSince = now;
      ticket->isComplete.store(true);
      Dismiss(*ticket, now);
    }

    return doesCount && !ticket->isAnnounced;
  }


  void IngestBudget::BreakOff(int place, TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);

    if (ticket != nullptr && ticket->isWaiting.load())
    {
      const auto lock = line_.Lock();
      Break(*ticket, now);
    }
  }


  bool IngestBudget::CloseParts(int place, std::uint64_t bytes, TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);
    const bool isPart = ticket != nullptr && !ticket->isAnnounced;

    if (isPart && ticket->age.load() != 0)
    {
      if (ticket->bytes != 0)
      {
        ticket->progressAt.store(ToCount(now));
      }

      ticket->placeSince += ticket->isComplete.load() ? now - ticket->completeSince : Duration(0);
      ticket->bytesOfParts += bytes - std::min(bytes, ticket->bytesAtPlace);
      ticket->bytesAtPlace = 0;
      Release(*ticket);
      Dismiss(*ticket, now);
    }

    return isPart;
  }


  bool IngestBudget::CloseCompletePart(int place, std::uint64_t bytes, TimePoint now) noexcept
  {
    const Ticket* const ticket = Find(place);
    return ticket != nullptr && ticket->isComplete.load() && CloseParts(place, bytes, now);
  }


  void IngestBudget::Close(int place, TimePoint now) noexcept
  {
    Ticket* const ticket = Find(place);

    if (ticket == nullptr || ticket->age.load() == 0)
    {
      return;
    }

    Dismiss(*ticket, now);
    ticket->age.store(0);
    Release(*ticket);
    ticket->isAnnounced = false;
    ticket->isBroken = false;
    ticket->hasWaited = false;
    ticket->hasGivenUp = false;
    ticket->hasPassed = false;
    ticket->isBeyond.store(false);
    ticket->sips.Forget();
    ticket->waited = Duration::zero();
    work_.fetch_sub(ONE_MESSAGE);
  }


  BudgetFigures IngestBudget::GetFigures(TimePoint now) const noexcept
  {
    BudgetFigures figures;
    figures.limit = limit_.load();
    figures.held = held_.load();
    figures.inFlight = work_.load() / ONE_MESSAGE;
    figures.givenUp = givenUp_.load();
    figures.passedFullLine = passedFullLine_.load();
    figures.brokenOff = brokenOff_.load();

    const auto lock = line_.Lock();
    figures.waiting = line_.CountWaiting();
    figures.waits = line_.CountWaits();
    Duration underWay = Duration::zero();

    for (std::size_t place = 0; figures.waiting != 0 && place < used_.load(); place++)
    {
      const Ticket& ticket = tickets_[place];
      underWay += ticket.isWaiting.load() ? std::max(now - ticket.waitingSince, Duration(0))
                                          : Duration::zero();
    }

    figures.waited = line_.TellWaited(underWay);
    return figures;
  }


  IngestBudget::Ticket* IngestBudget::Find(int place) noexcept
  {
    const auto index = static_cast<std::size_t>(place);  // negative: beyond the end
    return index < places_ ? &tickets_[index] : nullptr;
  }


  // Where it is not, nothing that comes from now on counts
  bool IngestBudget::IsToAsk(Ticket* ticket, std::uint64_t received, TimePoint now) noexcept
  {
    if (ticket == nullptr)
    {
      return false;
    }

    const bool isOn = IsOn();

    if (isOn)
    {
      Enter(*ticket, received, now);
    }
    else
    {
      Dismiss(*ticket, now);
    }

    return isOn;
  }


  void IngestBudget::Enter(Ticket& ticket, std::uint64_t received, TimePoint now) noexcept
  {
    if (ticket.age.load() != 0)
    {
      return;
    }

    const auto end = static_cast<std::size_t>(&ticket - tickets_.get()) + 1;
    std::size_t used = used_.load();

    while (used < end && !used_.compare_exchange_weak(used, end))
    {
      // "used" is what it is now
    }

    work_.fetch_add(ONE_MESSAGE);
    ticket.placeSince = now;
    ticket.bytesAtPlace = received;
    ticket.bytesOfParts = 0;
    ticket.progressAt.store(ToCount(now));
    ticket.age.store(nextAge_.fetch_add(1));
  }


  // What it has of the budget stays counted
  void IngestBudget::LeavePlaceIfSlow(Ticket& ticket, std::uint64_t received,
                                      TimePoint now) noexcept
  {
    const Duration held = now - ticket.placeSince;
    const std::uint64_t came =
        ticket.bytesOfParts + received - std::min(received, ticket.bytesAtPlace);

    if (!ticket.isWaiting.load() && held.count() >= bound_.load() && came < CountBytes(SLOW, held))
    {
      ticket.placeSince = now;
      ticket.bytesAtPlace = received;
      ticket.bytesOfParts = 0;
      ticket.age.store(nextAge_.fetch_add(1));
    }
  }


  IngestBudget::Reply IngestBudget::Ask(Ticket& ticket, const Demand& demand,
                                        TimePoint now) noexcept
  {
    if (!ticket.isBroken && (demand.bytes <= ticket.bytes || TakeAtOnce(ticket, demand.bytes)))
    {
      return Give(ticket, demand.bytes, now);
    }

    const auto lock = line_.Lock();

    if (ticket.isBroken || (ticket.isWaiting.load() && isStopped_.load()))
    {
      return Break(ticket, now);
    }

    return AskInLine(ticket, demand, now);
  }


  // Without the line's lock
  bool IngestBudget::TakeAtOnce(Ticket& ticket, std::uint64_t bytes) noexcept
  {
    const bool hasRoom =
        !ticket.isInLine && line_.IsEmpty() && TryTake(ticket, bytes, limit_.load());

    if (hasRoom)
    {
      ticket.sips.Forget();
    }

    return hasRoom;
  }


  IngestBudget::Reply IngestBudget::AskInLine(Ticket& ticket, const Demand& demand,
                                              TimePoint now) noexcept
  {
    if (IsTurnOf(ticket, demand, now))
    {
      return Give(ticket, demand.bytes, now);
    }

    if (isStopped_.load())
    {
      return Break(ticket, now);
    }

    if (const std::uint64_t sip = TakeSip(ticket, demand, now); sip != 0)
    {
      return Give(ticket, sip, now);
    }

    if (ticket.isToPass ||
        (line_.IsFull(ticket, GetServer(demand.sender.isHttp)) && !LetFirstUploadOn(demand)))
    {
      PassFullLine(ticket, demand);
      return Give(ticket, demand.bytes, now);
    }

    BeginWait(ticket, demand, now);
    return {Answer::Wait, 0};
  }


  // If so, it has what it asked for
  bool IngestBudget::IsTurnOf(Ticket& ticket, const Demand& demand, TimePoint now) noexcept
  {
    const std::uint64_t limit = limit_.load();
    const bool isNext = IsNext(ticket, demand, now);
    bool isLetOn = isNext && TryTake(ticket, demand.bytes, limit);

    if (!isLetOn && (limit == 0 || (isNext && IsFirst(ticket, now) && MayOvertake(ticket, demand))))
    {
      Take(ticket, demand.bytes);
      isLetOn = true;
    }

    if (isLetOn)
    {
      ticket.sips.Forget();
      line_.Leave(ticket);
      return true;
    }

    const bool mayAdvance = MayAdvance(ticket, demand.bytes, now);

    if (mayAdvance)
    {
      Advance(ticket, demand.bytes);
    }

    return mayAdvance;
  }


  // Whether the first of those that come on may go before older ones that do not, and have what
  // they have: of uploads, which take all that they will at once, one at a time
  bool IngestBudget::MayOvertake(Ticket& ticket, const Demand& demand) noexcept
  {
    if (demand.received != 0 || !HasOlder(ticket, [](const Ticket&) { return true; }))
    {
      return true;
    }

    const bool isAlone = !HasAny([](const Ticket& other) { return other.isBeyond.load(); });
    ticket.isBeyond.store(isAlone);
    return isAlone;
  }


  // Whether it gets on without room, as it has waited for so long
  bool IngestBudget::MayAdvance(const Ticket& ticket, std::uint64_t bytes, TimePoint now) noexcept
  {
    TimePoint& next = nextAdvance_[ticket.lane];

    if (now < next || !IsOverdue(ticket, now) || IsHeldUp(ticket, now) ||
        HasOlder(ticket, [this, &ticket, now](const Ticket& other)
                 { return IsOverdue(other, now) && other.lane == ticket.lane; }))
    {
      return false;
    }

    const auto rate =
        static_cast<double>(ticket.lane == UPLOADS ? UPLOADS_WITHOUT_ROOM : PIECES_WITHOUT_ROOM);
    const std::chrono::duration<double> gap(static_cast<double>(bytes - ticket.bytes) / rate);
    next = now + std::chrono::duration_cast<Duration>(
                     std::min<std::chrono::duration<double>>(gap, LONGEST_GAP));
    return true;
  }


  void IngestBudget::Advance(Ticket& ticket, std::uint64_t bytes) noexcept
  {
    Take(ticket, bytes);
    ticket.sips.BeginAgain();

    if (!ticket.hasGivenUp)
    {
      ticket.hasGivenUp = true;
      givenUp_.fetch_add(1);
    }

    // It has all that it will take
    if (ticket.lane == UPLOADS)
    {
      ticket.isBeyond.store(true);
      line_.Leave(ticket);
    }
  }


  // Each upload takes all that it will at once, and keeps it until it is stored, however long that
  // takes, or however slowly it comes: those that began together are not to be together so
  bool IngestBudget::IsHeldUp(const Ticket& ticket, TimePoint now) const noexcept
  {
    return ticket.lane == UPLOADS && CountWaited(ticket, now).count() / HARD_END < bound_.load() &&
           HasAny([](const Ticket& other) { return other.isBeyond.load(); });
  }


  // Up to where it may be read, room or not, so that its sender hears something; 0: not now
  std::uint64_t IngestBudget::TakeSip(Ticket& ticket, const Demand& demand, TimePoint now) noexcept
  {
    if (demand.received == 0 || !ticket.isWaiting.load())
    {
      return 0;
    }

    const Duration longest((demand.sender.isHttp ? silenceOfHttp_ : silenceOfDicom_).load());
    const std::uint64_t sip = ticket.sips.Take(demand.sender, now - ticket.waitingSince, longest);

    if (sip == 0)
    {
      return 0;
    }

    Take(ticket, std::max(ticket.bytes, demand.received) + sip);
    return ticket.bytes;
  }


  // In all, by a message that waits
  Duration IngestBudget::CountWaited(const Ticket& ticket, TimePoint now) noexcept
  {
    return ticket.waited + (now - ticket.waitingSince);
  }


  // Whether it waits, and has done so for as long as a message may
  bool IngestBudget::IsOverdue(const Ticket& ticket, TimePoint now) const noexcept
  {
    return ticket.isWaiting.load() && CountWaited(ticket, now).count() >= bound_.load();
  }


  // A message that is all here is at work until it is over, however long that takes
  bool IngestBudget::IsAtWork(const Ticket& ticket, TimePoint now) noexcept
  {
    return ticket.isComplete.load() || now - ToTimePoint(ticket.progressAt.load()) <= PATIENCE;
  }


  void IngestBudget::PassFullLine(Ticket& ticket, const Demand& demand) noexcept
  {
    if (!ticket.hasPassed)
    {
      ticket.hasPassed = true;
      passedFullLine_.fetch_add(1);
    }

    ticket.isBeyond.store(demand.received == 0);
    Take(ticket, demand.bytes);
    line_.Leave(ticket);
  }


  // For an upload that has its place then: or who comes while the line is full would get on before
  // those who have waited for long, and hold them up
  bool IngestBudget::LetFirstUploadOn(const Demand& demand) noexcept
  {
    Ticket* first = nullptr;

    for (std::size_t place = 0; demand.received == 0 && place < used_.load(); place++)
    {
      Ticket& ticket = tickets_[place];

      if (ticket.isWaiting.load() && ticket.lane == UPLOADS && !ticket.isToPass &&
          (first == nullptr || ticket.age.load() < first->age.load()))
      {
        first = &ticket;
      }
    }

    if (first != nullptr)
    {
      first->isToPass = true;
    }

    return first != nullptr;
  }


  void IngestBudget::Take(Ticket& ticket, std::uint64_t bytes) noexcept
  {
    held_.fetch_add((bytes - ticket.bytes) * COPIES);
    ticket.bytes = bytes;
  }


  bool IngestBudget::TryTake(Ticket& ticket, std::uint64_t bytes, std::uint64_t limit) noexcept
  {
    const std::uint64_t more = (bytes - ticket.bytes) * COPIES;
    std::uint64_t held = held_.load();

    do
    {
      if (held + more > limit)
      {
        return false;
      }
    } while (!held_.compare_exchange_weak(held, held + more));

    ticket.bytes = bytes;
    return true;
  }


  IngestBudget::Reply IngestBudget::Give(Ticket& ticket, std::uint64_t bytes,
                                         TimePoint now) noexcept
  {
    if (ticket.isWaiting.load())
    {
      EndWait(ticket, now);
    }

    ticket.progressAt.store(ToCount(now));
    return {Answer::Go, bytes};
  }


  IngestBudget::Reply IngestBudget::Break(Ticket& ticket, TimePoint now) noexcept
  {
    if (!ticket.isBroken)
    {
      ticket.isBroken = true;
      brokenOff_.fetch_add(1);
    }

    EndWait(ticket, now);
    line_.Leave(ticket);
    return {Answer::BreakOff, 0};
  }


  void IngestBudget::Release(Ticket& ticket) noexcept
  {
    held_.fetch_sub(ticket.bytes * COPIES);
    ticket.bytes = 0;
    ticket.isComplete.store(false);
  }


  // Whether a message in flight is as the judge says
  template <typename Judge>
  bool IngestBudget::HasAny(const Judge& judge) const noexcept
  {
    const std::size_t used = used_.load();

    for (std::size_t place = 0; place < used; place++)
    {
      if (tickets_[place].age.load() != 0 && judge(tickets_[place]))
      {
        return true;
      }
    }

    return false;
  }


  // The same, of those that are older than this message
  template <typename Judge>
  bool IngestBudget::HasOlder(const Ticket& ticket, const Judge& judge) const noexcept
  {
    const std::uint64_t age = ticket.age.load();
    return HasAny(
        [age, &judge](const Ticket& other)
        {
          const std::uint64_t otherAge = other.age.load();
          return otherAge != 0 && otherAge < age && judge(other);
        });
  }


  // Uploads that wait until one without room is over stand in no other message's way once that does
  // not come on
  bool IngestBudget::IsNext(const Ticket& ticket, const Demand& demand,
                            TimePoint now) const noexcept
  {
    const auto hasStalled = [now](const Ticket& other)
    {
      return other.isBeyond.load() && !IsAtWork(other, now);
    };
    const bool mayPass = demand.received != 0 && HasAny(hasStalled);
    return !HasOlder(ticket, [mayPass](const Ticket& other)
                     { return other.isWaiting.load() && !(mayPass && other.lane == UPLOADS); });
  }


  bool IngestBudget::IsFirst(const Ticket& ticket, TimePoint now) const noexcept
  {
    return !HasOlder(ticket, [now](const Ticket& other) { return IsAtWork(other, now); });
  }


  void IngestBudget::BeginWait(Ticket& ticket, const Demand& demand, TimePoint now) noexcept
  {
    if (!ticket.isWaiting.load())
    {
      ticket.lane = demand.received == 0 ? UPLOADS : PIECES;
      line_.BeginWait(ticket, GetServer(demand.sender.isHttp), now);
    }
  }


  void IngestBudget::EndWait(Ticket& ticket, TimePoint now) noexcept
  {
    ticket.placeSince += line_.EndWait(ticket, now);
    ticket.isToPass = false;
  }


  // Without the line's lock, which it takes only for who is in the line
  void IngestBudget::Dismiss(Ticket& ticket, TimePoint now) noexcept
  {
    if (ticket.isInLine)
    {
      const auto lock = line_.Lock();
      EndWait(ticket, now);
      line_.Leave(ticket);
    }
  }
}
