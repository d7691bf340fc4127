// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/FileDescriptor.h"

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace OrthancPerf
{
  // One end of a connection over which structs go as they are, each as one packet
  // (SOCK_SEQPACKET, unix(7)). One thread at a time sends and receives; any thread may interrupt.
  class MessageSocket
  {
  public:
    enum class Receipt
    {
      Received,
      Closed,  // by the other side, or it has sent something else
      TimedOut
    };

    explicit MessageSocket(FileDescriptor descriptor) noexcept;

    // Two connected ends. Throws std::system_error.
    static std::pair<FileDescriptor, FileDescriptor> MakePair();

    // False if the other side is gone
    template <typename Message>
    bool Send(const Message& message) noexcept
    {
      static_assert(std::is_trivially_copyable_v<Message>);
      return SendBytes(&message, sizeof(message));
    }

    template <typename Message>
    Receipt Receive(Message& message, std::chrono::milliseconds limit) noexcept
    {
      static_assert(std::is_trivially_copyable_v<Message>);
      return ReceiveBytes(&message, sizeof(message), limit);
    }

    // Whether nothing is known to speak against sending: the other side has not closed
    bool IsOpen() const noexcept;

    // A call that waits on either end finds it closed
    void Interrupt() noexcept;

  private:
    bool SendBytes(const void* data, std::size_t size) noexcept;
    Receipt ReceiveBytes(void* data, std::size_t size, std::chrono::milliseconds limit) noexcept;

    FileDescriptor descriptor_;
  };
}
