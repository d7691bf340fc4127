// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/FileDescriptor.h"
#include "Transcoding/Worker/SharedMemory.h"

#include <mutex>

namespace OrthancPerf
{
  // Catches what libjpeg says of damaged streams while this object lives. GDCM lets one warning for
  // a frame pass, and the rest of the frame is grey then; the only trace is a line on the standard
  // error stream of the process, which this takes over. One at a time in a process: others wait.
  class LibjpegWarnings
  {
  public:
    // Throws std::system_error
    LibjpegWarnings();

    LibjpegWarnings(const LibjpegWarnings&) = delete;
    LibjpegWarnings& operator=(const LibjpegWarnings&) = delete;

    ~LibjpegWarnings();

    // Whether there was a warning that says that pixels are lost
    bool IsDamaged() const;

  private:
    const std::lock_guard<std::mutex> lock_;
    const SharedMemory caught_;
    const FileDescriptor standardError_;
  };
}
