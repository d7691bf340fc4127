// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/FileDescriptor.h"

#include <cstddef>
#include <string>

namespace OrthancPerf
{
  // Memory that the plugin and one worker process share, read and written by system calls: whatever
  // the other side does to it, the worst outcome is an exception. Not thread-safe.
  class SharedMemory
  {
  public:
    // New and empty. Throws std::system_error.
    SharedMemory();

    // That of a descriptor, which it then owns
    explicit SharedMemory(FileDescriptor descriptor);

    int GetDescriptor() const noexcept
    {
      return descriptor_.Get();
    }

    // From the first byte. Throws std::system_error.
    void Write(const void* data, std::size_t size);

    // Throws std::system_error, or std::runtime_error if there are less bytes
    std::string Read(std::size_t size) const;

    // Gives back what is beyond "size" bytes, as one large file must not hold memory for ever
    void Shrink(std::size_t size) noexcept;

  private:
    FileDescriptor descriptor_;
  };
}
