// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/SharedMemory.h"

#include <cerrno>
#include <linux/memfd.h>
#include <stdexcept>
#include <sys/stat.h>
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


    // Linux has it for longer than the C library (glibc 2.27)
    int CreateAnonymousFile()
    {
      return static_cast<int>(syscall(SYS_memfd_create, "orthanc-perf", MFD_CLOEXEC));
    }


    // "transfer" moves bytes from a position on, like pread(2) and pwrite(2), until all are done
    template <typename Transfer>
    void TransferAll(std::size_t size, const char* call, const Transfer& transfer)
    {
      for (std::size_t done = 0; done < size;)
      {
        const ssize_t count = transfer(done);

        if (count > 0)
        {
          done += static_cast<std::size_t>(count);
        }
        else if (count == 0)
        {
          throw std::runtime_error("the shared memory is shorter than was said");
        }
        else if (errno != EINTR)
        {
          ThrowSystemError(call);
        }
      }
    }
  }


  SharedMemory::SharedMemory() : descriptor_(CreateAnonymousFile())
  {
    if (descriptor_.Get() < 0)
    {
      ThrowSystemError("memfd_create");
    }
  }


  SharedMemory::SharedMemory(FileDescriptor descriptor) : descriptor_(std::move(descriptor))
  {
  }


  void SharedMemory::Write(const void* data, std::size_t size)
  {
    const char* const bytes = static_cast<const char*>(data);
    TransferAll(
        size, "pwrite",
        [&](std::size_t done)
        { return pwrite(descriptor_.Get(), bytes + done, size - done, static_cast<off_t>(done)); });
  }


  std::string SharedMemory::Read(std::size_t size) const
  {
    struct stat status = {};

    // Before memory is set aside for a size that the other side has made up
    if (fstat(descriptor_.Get(), &status) != 0 || static_cast<std::size_t>(status.st_size) < size)
    {
      throw std::runtime_error("the shared memory is shorter than was said");
    }

    std::string bytes(size, '\0');
    TransferAll(
        size, "pread",
        [&](std::size_t done)
        { return pread(descriptor_.Get(), &bytes[done], size - done, static_cast<off_t>(done)); });
    return bytes;
  }


  void SharedMemory::Shrink(std::size_t size) noexcept
  {
    struct stat status = {};

    if (fstat(descriptor_.Get(), &status) == 0 && static_cast<std::size_t>(status.st_size) > size)
    {
      // Without success the memory is held a little longer, and that is all
      static_cast<void>(ftruncate(descriptor_.Get(), static_cast<off_t>(size)) == 0);
    }
  }
}
