// SPDX-License-Identifier: GPL-3.0-or-later
// Any senders, at any moments: what is reserved is what they have, and once they send on, one at
// least always goes on, and each comes to its end, also while others are never stored.
#include "Admission/AdmissionQueue.h"
#include "Fuzz/Require.h"
#include "Network/AdmissionGate.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace OrthancPerf;

namespace
{
  using Answer = AdmissionQueue::Answer;

  constexpr std::size_t MESSAGES = 8;
  constexpr std::uint64_t PIECE = AdmissionQueue::PIECE;
  constexpr int TIMEOUT = 5;  // seconds
  constexpr int MOST_SECONDS = 8 * (TIMEOUT + 100);

  // The thread of Orthanc that has the connection, as the hooks have it behave
  struct Receiver
  {
    bool isBegun = false;
    bool isUpload = false;
    bool isWaiting = false;
    bool isStuck = false;  // it is received, and not stored
    std::uint64_t length = 0;
    std::uint64_t received = 0;
    std::uint64_t granted = 0;
    std::uint64_t reserved = 0;  // at most

    bool IsReceived() const
    {
      return received == length;
    }
  };

  class Scene
  {
  public:
    // Each step is two bytes: whom it concerns and what happens, and how much
    void Play(const std::uint8_t* data, std::size_t size)
    {
      for (std::size_t i = 0; i + 1 < size; i += 2)
      {
        Act(data[i] % MESSAGES, data[i] / MESSAGES % 8, data[i + 1]);
        Check();
      }
    }

    // All that have begun send on, but those that are stuck, if they are not all: then these, too
    void End()
    {
      EndAll(false);
      EndAll(true);
      Require(queue_.GetFigures().held == 0 && queue_.GetFigures().inFlight == 0);
      queue_.Set(0, std::chrono::seconds(TIMEOUT));
      Require(!queue_.IsActive());
    }

  private:
    void Act(std::size_t place, unsigned int action, std::uint8_t amount)
    {
      const std::uint64_t bytes = amount * PIECE / 4;
      Receiver& receiver = receivers_[place];

      switch (action)
      {
        case 0:
          now_ += std::chrono::milliseconds(100 * amount);
          break;
        case 1:
          queue_.Set(bytes, std::chrono::seconds(TIMEOUT));
          break;
        case 2:
          Close(place);
          break;
        case 3:
          receiver.isStuck = receiver.isBegun && !receiver.isWaiting;
          break;
        case 4:
          Release(place);
          break;
        default:
          if (!receiver.isBegun)
          {
            receiver = Receiver();
            receiver.isBegun = true;
            receiver.isUpload = action == 7;
            receiver.length = bytes;
            receiver.granted = receiver.isUpload ? 0 : PIECE;
          }

          GoOn(place, bytes);
      }
    }

    // So many bytes come, if they may; otherwise it asks whether they may
    void GoOn(std::size_t place, std::uint64_t bytes)
    {
      Receiver& receiver = receivers_[place];
      receiver.isStuck = false;

      if (receiver.received >= receiver.granted)
      {
        Ask(place);
      }

      if (!receiver.isWaiting)
      {
        receiver.received =
            std::min({receiver.received + bytes, receiver.granted, receiver.length});
      }
    }

    void Ask(std::size_t place)
    {
      Receiver& receiver = receivers_[place];
      const int fd = static_cast<int>(place);
      const AdmissionQueue::Reply reply = receiver.isUpload
                                              ? queue_.AskForAll(fd, receiver.length, now_)
                                              : queue_.AskForPiece(fd, receiver.received, now_);
      Require(reply.answer != Answer::BreakOff);  // nobody has stopped it
      receiver.isWaiting = reply.answer == Answer::Wait;
      receiver.reserved = std::max(receiver.reserved, receiver.received);

      if (!receiver.isWaiting)
      {
        Require(reply.upTo > receiver.received);
        receiver.granted = reply.upTo;
        receiver.reserved = receiver.isUpload ? receiver.length : reply.upTo;
      }
    }

    // What came of a request in chunks is stored
    void Release(std::size_t place)
    {
      Receiver& receiver = receivers_[place];

      if (receiver.isBegun && !receiver.isUpload && !receiver.isWaiting)
      {
        queue_.Release(static_cast<int>(place));
        receiver.length -= receiver.received;
        receiver.received = 0;
        receiver.reserved = 0;
        receiver.granted = PIECE;
      }
    }

    void Close(std::size_t place)
    {
      queue_.Close(static_cast<int>(place));
      receivers_[place] = Receiver();
    }

    bool IsToEnd(const Receiver& receiver, bool isForAll) const
    {
      return receiver.isBegun && (isForAll || !receiver.isStuck);
    }

    void EndAll(bool isForAll)
    {
      const bool isOneStuck = std::any_of(receivers_.begin(), receivers_.end(),
                                          [](const Receiver& one) { return one.isStuck; });
      const int mostOfNone = isOneStuck && !isForAll ? TIMEOUT + 2 : 2;
      int none = 0;

      for (int i = 0; HasAny(isForAll); i++)
      {
        Require(i < MOST_SECONDS);
        now_ += std::chrono::seconds(1);
        bool isProgress = false;

        for (std::size_t place = 0; place < MESSAGES; place++)
        {
          isProgress = (IsToEnd(receivers_[place], isForAll) && EndOne(place)) || isProgress;
          Check();
        }

        none = isProgress ? 0 : none + 1;
        Require(none <= mostOfNone);
      }
    }

    bool HasAny(bool isForAll) const
    {
      return std::any_of(receivers_.begin(), receivers_.end(),
                         [&](const Receiver& one) { return IsToEnd(one, isForAll); });
    }

    // Whether it got on
    bool EndOne(std::size_t place)
    {
      Receiver& receiver = receivers_[place];
      GoOn(place, 2 * PIECE);
      const bool isProgress = !receiver.isWaiting;

      if (receiver.IsReceived())
      {
        Close(place);
      }

      return isProgress;
    }

    void Check()
    {
      const AdmissionFigures figures = queue_.GetFigures();
      std::uint64_t waiting = 0;
      std::uint64_t reserved = 0;

      for (const Receiver& receiver : receivers_)
      {
        waiting += receiver.isWaiting ? 1 : 0;
        reserved += receiver.reserved;
      }

      Require(figures.waiting == waiting && figures.inFlight <= MESSAGES);
      Require(figures.held <= reserved * AdmissionQueue::COPIES);
      Require(figures.waited >= waited_);
      waited_ = figures.waited;
    }

    AdmissionQueue queue_{MESSAGES};
    std::array<Receiver, MESSAGES> receivers_;
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
  Scene scene;
  scene.Play(data, size);
  scene.End();
  return 0;
}
