// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  // Owns an open file descriptor, or none (-1), and closes it
  class FileDescriptor
  {
  public:
    FileDescriptor() = default;

    explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor)
    {
    }

    FileDescriptor(FileDescriptor&& other) noexcept :
      descriptor_(std::exchange(other.descriptor_, -1))
    {
    }

    FileDescriptor& operator=(FileDescriptor&& other) noexcept
    {
      std::swap(descriptor_, other.descriptor_);
      return *this;
    }

    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    ~FileDescriptor()
    {
      if (descriptor_ >= 0)
      {
        close(descriptor_);
      }
    }

    int Get() const noexcept
    {
      return descriptor_;
    }

  private:
    int descriptor_ = -1;
  };
}
