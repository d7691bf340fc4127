// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>

namespace OrthancPerf
{
  // Leaves errno(3) as it was at construction
  class ErrnoKeeper
  {
  public:
    ErrnoKeeper() noexcept : value_(errno)
    {
    }

    ~ErrnoKeeper()
    {
      errno = value_;
    }

    ErrnoKeeper(const ErrnoKeeper&) = delete;
    ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;

  private:
    const int value_;
  };
}
