// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace OrthancPerf
{
  // Whether an image could be written to a disk now: whether it has 16 MiB left, and takes a file
  // of 4 KiB that is synced. Nothing of it is left. The file has no name where the file system can
  // do that (O_TMPFILE, open(2)); elsewhere, as on NFS, it has one for a moment: ".orthanc-perf-"
  // and six characters.
  //
  // A file system may hang for ever, and a thread that waits for it cannot be interrupted: a
  // detached thread tries, and is left behind if it hangs. The answer is empty, or the kernel's
  // error, as "No space left on device". Throws std::system_error if no thread can be started.
  void TryToStore(const std::string& folder, std::function<void(const std::string&)> answer);
}
