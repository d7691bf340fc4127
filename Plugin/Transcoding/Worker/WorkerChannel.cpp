// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerChannel.h"

#include <cerrno>
#include <linux/memfd.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    [[noreturn]] void ThrowSystemError(const char* call)
    {
      throw std::system_error(errno, std::generic_category(), call);
    }

    // A system call, until no signal interrupts it
    template <typename Call>
    auto Repeat(const Call& call) noexcept
    {
      auto result = call();

      while (result < 0 && errno == EINTR)
      {
        result = call();
      }

      return result;
    }

    // All bytes, in as many calls as it takes
    template <typename Call>
    void TransferAll(const char* name, std::size_t size, const Call& call)
    {
      for (std::size_t done = 0; done < size;)
      {
        const ssize_t count = Repeat([&] { return call(done); });

        if (count < 0)
        {
          ThrowSystemError(name);
        }

        if (count == 0)
        {
          throw std::runtime_error("the shared memory is shorter than was said");
        }

        done += static_cast<std::size_t>(count);
      }
    }
  }

  FileDescriptor CreateMemoryFile()
  {
    // Linux has it for longer than the C library (glibc 2.27)
    FileDescriptor file(static_cast<int>(syscall(SYS_memfd_create, "orthanc-perf", MFD_CLOEXEC)));

    if (file.Get() < 0)
    {
      ThrowSystemError("memfd_create");
    }

    return file;
  }

  WorkerChannel::WorkerChannel(FileDescriptor& workersEnd) : memory_(CreateMemoryFile())
  {
    std::array<int, 2> ends = {};

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    {
      ThrowSystemError("socketpair");
    }

    socket_ = FileDescriptor(ends[0]);
    workersEnd = FileDescriptor(ends[1]);
  }

  WorkerChannel::WorkerChannel(FileDescriptor socket, FileDescriptor memory) noexcept :
    socket_(std::move(socket)),
    memory_(std::move(memory))
  {
  }

  bool WorkerChannel::SendBytes(const void* data, std::size_t size) noexcept
  {
    const ssize_t count = Repeat([&] { return send(socket_.Get(), data, size, MSG_NOSIGNAL); });
    return count == static_cast<ssize_t>(size);
  }

  WorkerChannel::Receipt WorkerChannel::ReceiveBytes(void* data, std::size_t size,
                                                     std::chrono::milliseconds limit) noexcept
  {
    const TimePoint deadline = Clock::now() + limit;
    pollfd entry = {socket_.Get(), POLLIN, 0};
    const int readable = Repeat(
        [&]
        {
          const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
          return poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        });

    if (readable == 0)
    {
      return Receipt::TimedOut;
    }

    // MSG_TRUNC: the true length of a packet that is too long
    const ssize_t count = Repeat([&] { return recv(socket_.Get(), data, size, MSG_TRUNC); });
    return count == static_cast<ssize_t>(size) ? Receipt::Received : Receipt::Closed;
  }

  bool WorkerChannel::IsOpen() const noexcept
  {
    char byte = 0;
    return recv(socket_.Get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EINTR);
  }

  void WorkerChannel::Interrupt() noexcept
  {
    shutdown(socket_.Get(), SHUT_RDWR);
  }

  void WorkerChannel::WriteMemory(const void* data, std::size_t size)
  {
    const char* const bytes = static_cast<const char*>(data);
    TransferAll("pwrite", size,
                [&](std::size_t done) {
                  return pwrite(memory_.Get(), bytes + done, size - done, static_cast<off_t>(done));
                });
  }

  std::string WorkerChannel::ReadMemory(std::size_t size) const
  {
    std::string bytes(size, '\0');
    TransferAll("pread", size,
                [&](std::size_t done) {
                  return pread(memory_.Get(), bytes.data() + done, size - done,
                               static_cast<off_t>(done));
                });
    return bytes;
  }

  void WorkerChannel::SetMemorySize(std::size_t size) noexcept
  {
    // Without success the memory is held a little longer, and that is all
    static_cast<void>(ftruncate(memory_.Get(), static_cast<off_t>(size)) == 0);
  }
}
