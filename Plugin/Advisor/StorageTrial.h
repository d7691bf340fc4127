// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <future>
#include <string>

namespace OrthancPerf
{
  // Whether an image could be written to a disk now: whether it has 16 MiB left, and takes a file
  // of 4 KiB that is synced. Nothing of it is left. The file has no name where the file system can
  // do that (O_TMPFILE, open(2)); elsewhere, as on NFS, it has one for a moment: ".orthanc-perf-"
  // and six characters.
  //
  // A file system may hang for ever, and who waits for it then cannot be waked: a thread that
  // nobody waits for tries, one at a time, and is left behind if it does not come back. One thread
  // at a time may call it.
  class StorageTrial
  {
  public:
    explicit StorageTrial(std::string folder);

    // Empty, or why not: the kernel's word for it, as "No space left on device", or that there was
    // none for so long. Throws std::system_error if there is no thread to be had.
    std::string Try(std::chrono::seconds patience);

  private:
    const std::string folder_;
    std::future<std::string> result_;  // of the latest, if it has not come back yet
  };
}
