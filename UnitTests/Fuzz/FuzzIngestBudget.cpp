// SPDX-License-Identifier: GPL-3.0-or-later
// Any senders, at any moments: what the budget counts is what they have, and once they send on, one
// at least always proceeds, and each comes to its end, also while others are never stored.
#include "Fuzz/Require.h"
#include "Ingest/IngestBudget.h"
#include "Network/Messages/ContentLength.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

using namespace OrthancPerf;

namespace
{
  using Answer = IngestBudget::Answer;

  constexpr std::size_t PLACES = 8;
  constexpr std::uint64_t PIECE = IngestBudget::PIECE;
  constexpr Duration BOUND = std::chrono::seconds(20);

  // For the end of each of PLACES messages: far more than HARD_END * BOUND and LONGEST_GAP for
  // each, and PIECES_WITHOUT_ROOM for what the longest take
  constexpr int MOST_SECONDS = 2000;

  // In which none proceeds though all send, and none is being stored
  constexpr int MOST_SECONDS_OF_NONE = 2;

  // More than a sip
  constexpr std::uint64_t PROGRESS = PIECE / 2;


  enum class Kind
  {
    Association,
    Chunks,
    Upload
  };


  // The thread of Orthanc that has the connection at this place, as the hooks have it behave
  class Receiver
  {
  public:
    Receiver(IngestBudget& budget, int place) : budget_(&budget), place_(place)
    {
    }

    bool IsWaiting() const
    {
      return isWaiting_;
    }

    bool IsBegun() const
    {
      return isBegun_;
    }

    // Orthanc is at work on it
    bool IsStuck() const
    {
      return isStuck_;
    }

    std::uint64_t CountReceived() const
    {
      return received_;
    }

    // What it may have at most, or has already, inflated
    std::uint64_t CountHeld() const
    {
      const bool isUpload = kind_ == Kind::Upload;

      if (isUpload && !isLetOn_)
      {
        return inflated_;
      }

      return std::max(isUpload ? length_ : granted_, inflated_);
    }

    void Begin(Kind kind, std::uint64_t length, TimePoint now)
    {
      kind_ = kind;
      length_ = length;
      isBegun_ = true;
      granted_ = kind == Kind::Upload ? 0 : PIECE;
      Proceed(0, now);
    }

    // So many bytes come, if they may; otherwise it asks whether they may
    void Proceed(std::uint64_t bytes, TimePoint now)
    {
      isStuck_ = false;

      if (received_ >= granted_)
      {
        Ask(now);
      }

      if (!isWaiting_ && isBegun_)
      {
        received_ = std::min({received_ + bytes, granted_, length_});
      }
    }

    bool IsComplete() const
    {
      return received_ == length_;
    }

    // An instance of so many bytes has come of it
    void Store(std::uint64_t bytes, TimePoint now)
    {
      if (isWaiting_)
      {
        return;
      }

      if (kind_ != Kind::Association)
      {
        budget_->CountInstance(place_, bytes, now);
        const bool doesCount = budget_->IsOn() && bytes > PIECE;
        Require(!doesCount || budget_->GetFigures(now).held >= bytes * IngestBudget::COPIES);
        inflated_ = doesCount ? std::max(inflated_, bytes) : inflated_;
      }

      budget_->MarkComplete(place_, now);
      isStuck_ = true;
    }

    // Orthanc is done with that instance
    void ClosePart(TimePoint now)
    {
      if (isWaiting_ || kind_ == Kind::Association || !budget_->CloseParts(place_, received_, now))
      {
        return;
      }

      isStuck_ = false;
      inflated_ = 0;

      if (kind_ == Kind::Chunks)
      {
        length_ -= received_;
        received_ = 0;
        granted_ = PIECE;
      }
    }

    void Leave(TimePoint now)
    {
      if (isWaiting_)
      {
        budget_->BreakOff(place_, now);
      }

      budget_->Close(place_, now);
      *this = Receiver(*budget_, place_);
    }

  private:
    void Ask(TimePoint now)
    {
      IngestBudget::Sender sender;
      sender.isHttp = kind_ != Kind::Association;
      sender.rest = received_ % 3 == 1 ? 1000 : 0;
      const bool isForAll = kind_ == Kind::Upload && !isLetOn_;
      const IngestBudget::Reply reply = isForAll
                                            ? budget_->AskForAll(place_, length_, now)
                                            : budget_->AskForPiece(place_, received_, now, sender);
      Require(reply.answer != Answer::BreakOff);         // nobody has stopped it
      Require(!isLetOn_ || reply.answer == Answer::Go);  // to its end, whatever is set
      isWaiting_ = reply.answer == Answer::Wait;

      if (!isWaiting_)
      {
        Require(reply.upTo > received_ || length_ == 0);
        granted_ = reply.upTo;
        isLetOn_ = kind_ == Kind::Upload;
      }
    }

    IngestBudget* budget_;
    int place_;
    Kind kind_ = Kind::Association;
    std::uint64_t length_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t granted_ = 0;
    std::uint64_t inflated_ = 0;
    bool isBegun_ = false;
    bool isWaiting_ = false;
    bool isLetOn_ = false;  // an upload, as a whole
    bool isStuck_ = false;
  };


  class Scene
  {
  public:
    explicit Scene(std::uint8_t settings)
    {
      for (std::size_t place = 0; place < PLACES; place++)
      {
        receivers_.emplace_back(budget_, static_cast<int>(place));
      }

      budget_.SetPlacesInLine(settings % 8, settings / 8 % 8);
      budget_.SetReadTimeouts(std::chrono::seconds(settings / 64 * 10),
                              std::chrono::seconds(settings / 64 * 5));
    }

    // Each step is two bytes: whom it concerns and what happens, and how much
    void Play(const std::uint8_t* data, std::size_t size)
    {
      for (std::size_t i = 0; i + 1 < size; i += 2)
      {
        Act(receivers_[data[i] % PLACES], data[i] / PLACES, data[i + 1]);
        Check();
      }
    }

    // All that have begun send on, whatever happened before; those that were about to be stored are
    // it at last
    void End()
    {
      const bool isOneStuck = HasAny([](const Receiver& receiver) { return receiver.IsStuck(); });
      EndAll([](const Receiver& receiver) { return receiver.IsBegun() && !receiver.IsStuck(); },
             isOneStuck ? MOST_SECONDS : MOST_SECONDS_OF_NONE);
      EndAll([](const Receiver& receiver) { return receiver.IsBegun(); }, MOST_SECONDS_OF_NONE);

      const BudgetFigures figures = budget_.GetFigures(now_);
      Require(figures.held == 0 && figures.inFlight == 0 && figures.waiting == 0);
      budget_.Set(0, BOUND);
      Require(budget_.IsIdle());
    }

  private:
    void Act(Receiver& receiver, unsigned int action, std::uint8_t amount)
    {
      const std::uint64_t bytes = amount * PIECE / 4;

      switch (action % 8)
      {
        case 0:
          now_ += std::chrono::milliseconds(100 * amount);
          break;
        case 1:
          budget_.Set(amount * PIECE, BOUND);
          break;
        case 2:
          receiver.Leave(now_);
          break;
        case 3:
          receiver.IsBegun() ? receiver.Store(bytes, now_) : Begin(receiver, Kind::Chunks, bytes);
          break;
        case 4:
          receiver.IsBegun() ? receiver.ClosePart(now_) : Begin(receiver, Kind::Upload, bytes);
          break;
        default:
          receiver.IsBegun() ? receiver.Proceed(bytes, now_)
                             : Begin(receiver, Kind::Association, bytes);
      }
    }

    void Begin(Receiver& receiver, Kind kind, std::uint64_t length)
    {
      receiver.Begin(kind, length, now_);
    }

    template <typename Judge>
    void EndAll(const Judge& isToEnd, int mostOfNone)
    {
      int none = 0;

      for (int i = 0; i < MOST_SECONDS && HasAny(isToEnd); i++)
      {
        now_ += std::chrono::seconds(1);
        bool isProgress = false;

        for (Receiver& receiver : receivers_)
        {
          isProgress = (isToEnd(receiver) && EndOne(receiver)) || isProgress;
          Check();
        }

        none = isProgress ? 0 : none + 1;
        Require(none <= mostOfNone);
      }

      Require(!HasAny(isToEnd));
    }

    // Whether it got on
    bool EndOne(Receiver& receiver)
    {
      const std::uint64_t before = receiver.CountReceived();
      receiver.Proceed(2 * PIECE, now_);
      const bool isOver = receiver.IsComplete();
      const bool hasMore = receiver.CountReceived() >= before + PROGRESS;

      if (isOver)
      {
        receiver.Leave(now_);
      }

      return isOver || hasMore;
    }

    template <typename Judge>
    bool HasAny(const Judge& judge) const
    {
      return std::any_of(receivers_.begin(), receivers_.end(), judge);
    }

    void Check()
    {
      const BudgetFigures figures = budget_.GetFigures(now_);
      const auto waiting =
          std::count_if(receivers_.begin(), receivers_.end(),
                        [](const Receiver& receiver) { return receiver.IsWaiting(); });
      Require(figures.waiting == static_cast<std::uint64_t>(waiting));
      Require(figures.waited >= waited_ && figures.inFlight <= PLACES);
      const std::uint64_t held = std::accumulate(
          receivers_.begin(), receivers_.end(), std::uint64_t{0},
          [](std::uint64_t sum, const Receiver& receiver) { return sum + receiver.CountHeld(); });
      Require(figures.held <= held * IngestBudget::COPIES);
      waited_ = figures.waited;
    }

    IngestBudget budget_{PLACES};
    std::vector<Receiver> receivers_;
    TimePoint now_{std::chrono::seconds(1)};
    Duration waited_ = Duration::zero();
  };


  // As strtoll(3) has it, but for a sign of its own and what is not blank
  void CheckContentLength(std::string_view bytes)
  {
    const std::string text(bytes.substr(0, bytes.find('\0')));
    const auto length = ParseContentLength(text);
    errno = 0;
    char* end = nullptr;
    const long long expected = std::strtoll(text.c_str(), &end, 10);

    if (length && *length <= INT64_MAX)
    {
      Require(errno == 0 && static_cast<std::uint64_t>(expected) == *length);
    }
  }
}


extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  CheckContentLength({reinterpret_cast<const char*>(data), size});

  if (size != 0)
  {
    Scene scene(data[0]);
    scene.Play(data + 1, size - 1);
    scene.End();
  }

  return 0;
}
