// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/IngestGate.h"

#include "Network/HookContext.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <linux/sock_diag.h>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace OrthancPerf
{
  namespace
  {
    using Answer = IngestBudget::Answer;

    // Between two looks at the budget, in milliseconds
    constexpr int PAUSE = 10;

    // What CivetWeb may have read of a body with its header: MAX_REQUEST_SIZE, 16 KiB
    constexpr std::uint64_t READ_WITH_HEADER = 16384;

    // Beyond what any machine has; so that multiples of it are still numbers
    constexpr std::uint64_t LARGEST_BODY = std::uint64_t{1} << 50U;


    Connection* FindRequest(const ContextUse& use, int fd) noexcept
    {
      Connection* connection = use.Find(fd);
      return connection != nullptr && connection->state == ExchangeState::Request ? connection
                                                                                  : nullptr;
    }


    bool IsHttp(const Connection& connection) noexcept
    {
      return connection.kind.load(std::memory_order_relaxed) == ConnectionKind::HttpAccepted;
    }


    bool IsHttpRequest(int fd) noexcept
    {
      const ContextUse use;
      const Connection* connection = FindRequest(use, fd);
      return connection != nullptr && IsHttp(*connection);
    }


    // What can be seen of the sender of a message in pieces while it waits
    class SenderWatch
    {
    public:
      SenderWatch(int fd, bool isHttp) : fd_(fd)
      {
        sender_.isHttp = isHttp;
      }

      const IngestBudget::Sender& Get() const noexcept
      {
        return sender_;
      }

      void Look(TimePoint now) noexcept
      {
        const ErrnoKeeper keeper;
        std::array<std::uint32_t, SK_MEMINFO_VARS> memory = {};  // Linux 4.12
        socklen_t size = sizeof(memory);
        int unread = 0;

        if (ioctl(fd_, FIONREAD, &unread) != 0 ||
            getsockopt(fd_, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0)
        {
          return;
        }

        if (unread != unread_ || !since_)
        {
          unread_ = unread;
          since_ = now;
        }

        // Linux has no room for its sender from fifteen sixteenths on, and says so again below
        // (__tcp_select_window): who sends nothing before that has nothing to send
        const std::uint64_t buffer = memory[SK_MEMINFO_RCVBUF];
        const bool hasRoom = memory[SK_MEMINFO_RMEM_ALLOC] < buffer / 8 * 7;
        const bool isQuiet = now - *since_ >= QUIET;
        sender_.sip = buffer / 8;
        sender_.rest = hasRoom && isQuiet ? static_cast<std::uint64_t>(unread) : 0;
      }

    private:
      // Longer than a packet that was lost takes to come again, on usual networks
      static constexpr Duration QUIET = std::chrono::milliseconds(500);

      const int fd_;
      IngestBudget::Sender sender_;
      int unread_ = 0;
      std::optional<TimePoint> since_;  // it is as much as that
    };


    // What came so far is done with
    void BeginPart(Connection& connection) noexcept
    {
      connection.requestBytes = 0;
      connection.askAt = IngestBudget::PIECE;
    }


    Answer AskToRead(int fd, const IngestBudget::Sender& sender) noexcept
    {
      const ContextUse use;
      Connection* connection = FindRequest(use, fd);

      if (connection == nullptr)
      {
        return Answer::Go;
      }

      const TimePoint now = Clock::now();

      if (IsHttp(*connection) && use->budget.CloseCompletePart(fd, connection->requestBytes, now))
      {
        BeginPart(*connection);
        return Answer::Go;
      }

      const IngestBudget::Reply reply =
          use->budget.AskForPiece(fd, connection->requestBytes, now, sender);

      if (reply.answer == Answer::Go)
      {
        connection->askAt = reply.upTo;
      }

      return reply.answer;
    }


    Answer AskToUpload(int fd, std::optional<std::uint64_t> length) noexcept
    {
      const ContextUse use;
      Connection* connection = FindRequest(use, fd);

      if (connection == nullptr || !IsHttp(*connection))
      {
        return Answer::Go;
      }

      const IngestBudget::Reply reply =
          length ? use->budget.AskForAll(fd, std::min(*length, LARGEST_BODY), Clock::now())
                 : IngestBudget::Reply{Answer::Go, IngestBudget::PIECE};
      connection->askAt = reply.upTo == IngestBudget::ALL ? Connection::NEVER
                                                          : connection->requestBytes + reply.upTo;
      return reply.answer;
    }


    // "rest": what the sender has still to send, as far as that is known. A client may close its
    // own direction once all is under way, and wait for the answer.
    bool IsSenderGone(int fd, std::uint64_t rest)
    {
      const ErrnoKeeper keeper;
      pollfd look = {fd, POLLRDHUP, 0};

      if (poll(&look, 1, PAUSE) <= 0)
      {
        return false;
      }

      int unread = 0;

      if ((look.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ||
          ioctl(fd, FIONREAD, &unread) != 0 || static_cast<std::uint64_t>(unread) < rest)
      {
        return true;
      }

      poll(nullptr, 0, PAUSE);  // from now on, the other one answers at once
      return false;
    }


    void TellSenderGone(int fd) noexcept
    {
      const ContextUse use;

      if (use)
      {
        use->budget.BreakOff(fd, Clock::now());
      }
    }


    template <typename Ask>
    bool Wait(int fd, std::uint64_t rest, const Ask& ask)
    {
      Answer answer = ask();

      while (answer == Answer::Wait)
      {
        if (IsSenderGone(fd, rest))
        {
          TellSenderGone(fd);
          return false;
        }

        answer = ask();
      }

      return answer == Answer::Go;
    }
  }


  bool MayRead(int fd)
  {
    constexpr std::uint64_t UNKNOWN = std::numeric_limits<std::uint64_t>::max();

    // What is there may be the rest of a chunked body. A DICOM sender that sends no more is gone.
    const bool isHttp = IsHttpRequest(fd);
    SenderWatch watch(fd, isHttp);
    const auto ask = [fd, &watch]
    {
      const Answer answer = AskToRead(fd, watch.Get());

      if (answer == Answer::Wait)
      {
        watch.Look(Clock::now());
      }

      return answer;
    };

    if (Wait(fd, isHttp ? 1 : UNKNOWN, ask))
    {
      return true;
    }

    errno = ECONNRESET;
    return false;
  }


  bool MayUpload(int fd, std::optional<std::uint64_t> length) noexcept
  {
    const std::uint64_t rest = length.value_or(0);
    const bool isLetOn = Wait(fd, rest > READ_WITH_HEADER ? rest - READ_WITH_HEADER : 0,
                              [&] { return AskToUpload(fd, length); });

    if (!isLetOn)
    {
      // Nothing is to be answered. Reading goes on: behind SHUT_RD, Linux tells the sender of no
      // room that CivetWeb makes as it discards the body. A client that looks at nothing else
      // before it has sent all (curl) would hang for another minute (tcp_fin_timeout of tcp(7)).
      const ErrnoKeeper keeper;
      shutdown(fd, SHUT_WR);
    }

    return isLetOn;
  }


  void OnServed(int fd) noexcept
  {
    const ContextUse use;

    if (Connection* connection = use.Find(fd))
    {
      const TimePoint now = Clock::now();
      use->tracker.OnServed(*connection, now);

      // What the request before has left, if its response was not seen
      if (!use->budget.IsIdle())
      {
        use->budget.Close(fd, now);
      }
    }
  }


  void OnInstanceReceived(int fd, std::uint64_t size) noexcept
  {
    const ContextUse use;
    Connection* connection = FindRequest(use, fd);

    if (connection == nullptr)
    {
      return;
    }

    const TimePoint now = Clock::now();
    const bool isHttp = IsHttp(*connection);

    // A message of DICOM is not compressed as such
    if (isHttp)
    {
      // Of the instance before, which a filter has refused, or which was stored already; but a body
      // that has several (ZIP) is there until the last one is over
      if (connection->requestBytes < IngestBudget::PIECE &&
          use->budget.CloseCompletePart(fd, connection->requestBytes, now))
      {
        BeginPart(*connection);
      }

      use->budget.CountInstance(fd, size, now);
    }

    if (use->budget.MarkComplete(fd, now) && isHttp)
    {
      connection->askAt = connection->requestBytes;  // at the next read, this part is over
    }
  }


  void OnInstanceStored(int fd) noexcept
  {
    const ContextUse use;
    Connection* connection = FindRequest(use, fd);

    if (connection != nullptr && IsHttp(*connection) && !use->budget.IsIdle() &&
        use->budget.CloseParts(fd, connection->requestBytes, Clock::now()))
    {
      BeginPart(*connection);
    }
  }
}
