// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace OrthancPerf
{
  // The beginning of a file or of shared memory as bytes of this process (mmap(2)). The mapping
  // lives as long as this object.
  class SourceView
  {
  public:
    // Throws std::system_error
    SourceView(int descriptor, std::size_t size);

    SourceView(const SourceView&) = delete;
    SourceView& operator=(const SourceView&) = delete;

    ~SourceView();

    const void* GetData() const noexcept
    {
      return data_;
    }

  private:
    void* data_ = nullptr;
    const std::size_t size_;
  };
}
