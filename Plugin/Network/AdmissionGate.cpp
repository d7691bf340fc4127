// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AdmissionGate.h"

#include "Network/HookContext.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    using Answer = AdmissionQueue::Answer;

    constexpr int PAUSE = 10;  // milliseconds

    // Null: there is nothing to ask for
    Connection* FindRequest(const ContextUse& use, int fd) noexcept
    {
      Connection* connection = use && use->admission.IsActive() ? use.Find(fd) : nullptr;
      return connection != nullptr && connection->state == ExchangeState::Request ? connection
                                                                                  : nullptr;
    }

    Connection* FindHttpRequest(const ContextUse& use, int fd) noexcept
    {
      Connection* connection = FindRequest(use, fd);
      return connection != nullptr && connection->IsHttpAccepted() ? connection : nullptr;
    }

    Answer AskToRead(int fd) noexcept
    {
      const ContextUse use;
      Connection* connection = FindRequest(use, fd);

      if (connection == nullptr || connection->requestBytes < connection->askAt)
      {
        return Answer::Go;
      }

      connection->isCounted = true;
      const AdmissionQueue::Reply reply =
          use->admission.AskForPiece(fd, connection->requestBytes, Clock::now());

      if (reply.answer == Answer::Go)
      {
        connection->askAt = reply.upTo;
      }

      return reply.answer;
    }

    Answer AskToUpload(int fd, std::optional<std::uint64_t> length) noexcept
    {
      const ContextUse use;
      Connection* connection = FindHttpRequest(use, fd);

      if (connection == nullptr)
      {
        return Answer::Go;
      }

      if (!length)
      {
        connection->askAt = connection->requestBytes + AdmissionQueue::PIECE;
        return Answer::Go;
      }

      connection->isCounted = *length > AdmissionQueue::PIECE;
      return use->admission.AskForAll(fd, *length, Clock::now()).answer;
    }

    // Pauses. True, at once: the connection is lost, or one of these events is there.
    bool PauseOrEnd(int fd, short events)
    {
      const ErrnoKeeper keeper;
      pollfd look = {fd, events, 0};
      return poll(&look, 1, PAUSE) > 0;
    }
  }

  bool MayRead(int fd)
  {
    Answer answer = AskToRead(fd);

    // A sender that sends no more has left no more than the socket's buffer
    while (answer == Answer::Wait && !PauseOrEnd(fd, POLLRDHUP))
    {
      answer = AskToRead(fd);
    }

    if (answer == Answer::BreakOff)
    {
      errno = ECONNRESET;
    }

    return answer != Answer::BreakOff;
  }

  std::optional<std::uint64_t> ParseContentLength(std::string_view text) noexcept
  {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));

    if (!text.empty() && text.front() == '+')
    {
      text.remove_prefix(1);
    }

    std::uint64_t length = 0;
    const std::from_chars_result result =
        std::from_chars(text.data(), text.data() + text.size(), length);
    return result.ec == std::errc() ? std::optional<std::uint64_t>(length) : std::nullopt;
  }

  bool MayUpload(int fd, std::optional<std::uint64_t> length) noexcept
  {
    Answer answer = AskToUpload(fd, length);

    // A client may close its own direction, and wait for the answer
    while (answer == Answer::Wait)
    {
      answer = PauseOrEnd(fd, 0) ? Answer::BreakOff : AskToUpload(fd, length);
    }

    if (answer == Answer::BreakOff)
    {
      // Or Orthanc would answer 403, for good. Reading goes on: behind SHUT_RD, Linux tells the
      // sender of no room that CivetWeb makes as it discards the body.
      const ErrnoKeeper keeper;
      shutdown(fd, SHUT_WR);
      ContextUse().CloseMessage(fd);
    }

    return answer == Answer::Go;
  }

  void OnServed(int fd, bool isStow, const std::optional<ReadingRequest>& reading) noexcept
  {
    const ContextUse use;

    if (Connection* connection = use.Find(fd))
    {
      use->tracker.OnServed(*connection, isStow, reading);
      use.CloseMessage(fd);  // of the request before, if its response was not seen
    }
  }

  void OnInstanceStored(int fd) noexcept
  {
    const ContextUse use;
    Connection* connection = FindHttpRequest(use, fd);

    if (connection != nullptr && connection->askAt != Connection::NEVER)
    {
      use->admission.Release(fd);
      connection->requestBytes = 0;
      connection->askAt = AdmissionQueue::PIECE;
    }
  }
}
