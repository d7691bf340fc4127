// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/AdmissionQueue.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // More than any machine has, so that COPIES of it are still a number
    constexpr std::uint64_t LARGEST = std::uint64_t{1} << 50U;
  }

  AdmissionQueue::AdmissionQueue(std::size_t capacity) : capacity_(capacity)
  {
    messages_.reserve(capacity);
  }

  void AdmissionQueue::Set(std::uint64_t limit, Duration timeout) noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    figures_.limit = limit;
    timeout_ = timeout;
    UpdateActivity();
  }

  void AdmissionQueue::Stop() noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isStopped_ = true;
  }

  void AdmissionQueue::Clear() noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    messages_.clear();
    figures_.held = 0;
    UpdateActivity();
  }

  AdmissionQueue::Reply AdmissionQueue::AskForPiece(int fd, std::uint64_t received,
                                                    TimePoint now) noexcept
  {
    return Ask(fd, received, received + PIECE, now);
  }

  AdmissionQueue::Reply AdmissionQueue::AskForAll(int fd, std::uint64_t size,
                                                  TimePoint now) noexcept
  {
    const Reply reply =
        size <= PIECE ? Reply{Answer::Go, ALL} : Ask(fd, 0, std::min(size, LARGEST), now);
    return {reply.answer, ALL};
  }

  void AdmissionQueue::Release(int fd) noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (const auto message = Find(fd); message != messages_.end())
    {
      Reserve(*message, 0);
    }
  }

  void AdmissionQueue::Close(int fd) noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (const auto message = Find(fd); message != messages_.end())
    {
      Reserve(*message, 0);
      messages_.erase(message);
      UpdateActivity();
    }
  }

  AdmissionFigures AdmissionQueue::GetFigures() const noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    AdmissionFigures figures = figures_;
    figures.inFlight = messages_.size();
    figures.waiting = static_cast<std::uint64_t>(std::count_if(messages_.begin(), messages_.end(),
                                                               [](const Message& message)
                                                               { return message.isQueued; }));
    return figures;
  }

  // "received": 0 if nothing is read before all of "wanted" is reserved
  AdmissionQueue::Reply AdmissionQueue::Ask(int fd, std::uint64_t received, std::uint64_t wanted,
                                            TimePoint now) noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto message = Find(fd);

    if (message == messages_.end())
    {
      if (figures_.limit == 0 || messages_.size() == capacity_)
      {
        return {Answer::Go, wanted};
      }

      message = Enter(fd, received, now);
    }

    CountWait(message, now);

    if (MayGo(message, wanted))
    {
      message->isQueued = false;
      Reserve(*message, wanted);
      return {Answer::Go, wanted};
    }

    if (isStopped_)
    {
      return {Answer::BreakOff, 0};
    }

    if (received != 0 && message->isQueued && now - message->queuedAt >= SILENCE)
    {
      message->isQueued = false;  // its sender may send nothing: nobody is to wait for that
      Reserve(*message, received + SIP);
      return {Answer::Go, received + SIP};
    }

    Queue(*message, now);
    return {Answer::Wait, 0};
  }

  AdmissionQueue::Messages::iterator AdmissionQueue::Find(int fd) noexcept
  {
    return std::find_if(messages_.begin(), messages_.end(),
                        [fd](const Message& message) { return message.fd == fd; });
  }

  AdmissionQueue::Messages::iterator AdmissionQueue::FindHead() noexcept
  {
    return std::find_if(messages_.begin(), messages_.end(),
                        [](const Message& message) { return message.isQueued; });
  }

  // What came before there was a limit is in memory, and counts
  AdmissionQueue::Messages::iterator AdmissionQueue::Enter(int fd, std::uint64_t received,
                                                           TimePoint now) noexcept
  {
    Message message = {};
    message.fd = fd;
    message.askedAt = now;
    messages_.push_back(message);
    Reserve(messages_.back(), received);
    UpdateActivity();
    return std::prev(messages_.end());
  }

  // Rules 2 to 4
  bool AdmissionQueue::MayGo(Messages::iterator message, std::uint64_t wanted) noexcept
  {
    if (figures_.limit == 0 || message == messages_.begin() || message->isOverLimit)
    {
      return true;
    }

    if (FindHead() < message)
    {
      return false;
    }

    const std::uint64_t rest = figures_.held - message->bytes * COPIES;

    if (rest + std::max(wanted, message->bytes) * COPIES <= figures_.limit)
    {
      return true;
    }

    if (message->isQueued && message->atHead >= timeout_)
    {
      message->isOverLimit = true;
      figures_.givenUp++;
    }

    return message->isOverLimit;
  }

  void AdmissionQueue::CountWait(Messages::iterator message, TimePoint now) noexcept
  {
    const Duration waited = message->isQueued ? now - message->askedAt : Duration::zero();
    figures_.waited += waited;
    message->askedAt = now;

    if (FindHead() == message)
    {
      message->atHead += waited;
    }
  }

  void AdmissionQueue::Queue(Message& message, TimePoint now) noexcept
  {
    if (message.isQueued)
    {
      return;
    }

    message.isQueued = true;
    message.queuedAt = now;

    if (!message.wasQueued)
    {
      message.wasQueued = true;
      figures_.waits++;
    }
  }

  // A message never gives back before Release or Close: what was read is in memory
  void AdmissionQueue::Reserve(Message& message, std::uint64_t bytes) noexcept
  {
    const std::uint64_t reserved = bytes == 0 ? 0 : std::max(bytes, message.bytes);
    figures_.held += (reserved - message.bytes) * COPIES;
    message.bytes = reserved;
  }

  void AdmissionQueue::UpdateActivity() noexcept
  {
    isActive_.store(figures_.limit != 0 || !messages_.empty(), std::memory_order_relaxed);
  }
}
