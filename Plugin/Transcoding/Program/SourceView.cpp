// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/SourceView.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>

namespace OrthancPerf
{
  SourceView::SourceView(int descriptor, std::size_t size) : size_(size)
  {
    if (size_ > 0)
    {
      data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);

      if (data_ == MAP_FAILED)
      {
        throw std::system_error(errno, std::generic_category(), "mmap");
      }
    }
  }


  SourceView::~SourceView()
  {
    if (size_ > 0)
    {
      munmap(data_, size_);
    }
  }
}
