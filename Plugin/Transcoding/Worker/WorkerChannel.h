// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/FileDescriptor.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

// What a worker process and the plugin say to each other. They are of one build and on one
// machine, so messages are plain structs; each is one packet of a SOCK_SEQPACKET socket (unix(7)).
// The files themselves lie in memory that both share (memfd_create(2)): the source before a
// request, the result after a response, both from its first byte. The plugin reads and writes it
// by pread(2) and pwrite(2) only, as a worker that cuts it must not hurt the plugin.
//
//     worker → plugin   WorkerHello     once, when it is ready
//     plugin → worker   WorkerRequest   one at a time
//     worker → plugin   WorkerResponse
//
// A worker ends when the plugin closes its socket, or after WORKER_IDLE_LIMIT without a request.
namespace OrthancPerf
{
  // Where a worker finds the socket and the shared memory
  constexpr int WORKER_SOCKET = 3;
  constexpr int WORKER_MEMORY = 4;

  constexpr std::chrono::seconds WORKER_IDLE_LIMIT{60};

  constexpr std::size_t WORKER_TEXT_LENGTH = 64;
  constexpr std::size_t WORKER_REASON_LENGTH = 512;

  using WorkerText = std::array<char, WORKER_TEXT_LENGTH + 1>;
  using WorkerReason = std::array<char, WORKER_REASON_LENGTH + 1>;

  struct WorkerHello
  {
    WorkerText version = {};  // PERF_VERSION of the worker's build
  };

  struct WorkerRequest
  {
    std::uint32_t lossyQuality = 0;
    WorkerText transferSyntax = {};
    std::uint64_t sourceSize = 0;
    std::uint64_t maximumMemory = 0;  // bytes of address space
    std::uint64_t maximumResult = 0;  // bytes
    std::uint64_t maximumSeconds = 0;
  };

  struct WorkerResponse
  {
    std::uint32_t outcome = 0;     // TranscodingOutcome
    std::uint64_t resultSize = 0;  // bytes of the shared memory
    WorkerReason reason = {};
  };

  // What one request may cost. A value; as constructed, for a source without any bytes.
  struct WorkerLimits
  {
    std::chrono::milliseconds startup{20 * 1000};
    std::chrono::milliseconds time{30 * 1000};
    std::uint64_t memory = std::uint64_t(1) << 30;    // bytes of address space in the worker
    std::uint64_t result = std::uint64_t(256) << 20;  // bytes of the file, as Orthanc will hold it

    // For each MiB of the source another second; 32 times the source of memory, as codecs hold a
    // file several times and pixels may be compressed 10:1; 16 times the source for the result.
    WorkerLimits ForSource(std::size_t size) const
    {
      return {startup, time + std::chrono::seconds(size >> 20), memory + 32 * std::uint64_t(size),
              result + 16 * std::uint64_t(size)};
    }
  };

  // Texts are cut to what fits, and end with a zero
  template <std::size_t Size>
  void SetText(std::array<char, Size>& field, const std::string& text)
  {
    field.fill(0);
    text.copy(field.data(), Size - 1);
  }

  // Whatever bytes the other side has sent: what is not printable ASCII becomes a question mark, as
  // texts end up in the log and in JSON
  template <std::size_t Size>
  std::string GetText(const std::array<char, Size>& field)
  {
    std::string text(field.data(), Size);
    text.resize(std::min(text.find('\0'), Size));
    std::replace_if(
        text.begin(), text.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
    return text;
  }

  inline bool IsOfThisBuild(const WorkerHello& hello)
  {
    return GetText(hello.version) == PERF_VERSION;
  }

  // Whether a worker may have answered this to a request with these limits
  inline bool IsPlausible(const WorkerResponse& response, const WorkerLimits& limits) noexcept
  {
    return response.outcome <= static_cast<std::uint32_t>(TranscodingOutcome::Failed) &&
           response.resultSize <= limits.result;
  }

  // New anonymous memory as a file: memfd_create(2). Throws std::system_error.
  FileDescriptor CreateMemoryFile();

  // One end of the socket, and the shared memory. Whatever the other side does to it, the worst
  // outcome is an exception. One thread at a time uses it; any thread may interrupt.
  class WorkerChannel
  {
  public:
    enum class Receipt
    {
      Received,
      Closed,  // by the other side, or it has sent something else
      TimedOut
    };

    // Of the plugin: a new one, whose other end "workersEnd" is then. Throws std::system_error.
    explicit WorkerChannel(FileDescriptor& workersEnd);

    // Of a worker
    WorkerChannel(FileDescriptor socket, FileDescriptor memory) noexcept;

    int GetMemory() const noexcept
    {
      return memory_.Get();
    }

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

    // The memory from its first byte on. They throw std::system_error; reading also throws
    // std::runtime_error if there are less bytes.
    void WriteMemory(const void* data, std::size_t size);
    std::string ReadMemory(std::size_t size) const;

    // Gives back what is beyond "size" bytes, as one large file must not hold memory for ever
    void SetMemorySize(std::size_t size) noexcept;

  private:
    bool SendBytes(const void* data, std::size_t size) noexcept;
    Receipt ReceiveBytes(void* data, std::size_t size, std::chrono::milliseconds limit) noexcept;

    FileDescriptor socket_;
    FileDescriptor memory_;
  };
}
