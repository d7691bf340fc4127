// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/StorageTrial.h"

#include "Redirection/FileDescriptor.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A CT image has half a megabyte, a mammogram some 30: with less, the disk is as good as full
    constexpr std::uint64_t ROOM = std::uint64_t{16} << 20;

    using Block = std::array<char, 4096>;


    int OpenFile(const std::string& folder)
    {
      const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

      if (unnamed >= 0)
      {
        return unnamed;
      }

      std::string path = folder + "/.orthanc-perf-XXXXXX";
      const int named = mkostemp(path.data(), O_CLOEXEC);

      if (named >= 0)
      {
        unlink(path.c_str());
      }

      return named;
    }


    // Asked for, not taken: an image might come that needs it. A file system that does not know how
    // large it is has room.
    bool HasRoom(int descriptor)
    {
      struct statvfs disk = {};

      if (fstatvfs(descriptor, &disk) != 0 || disk.f_blocks == 0)
      {
        return true;
      }

      const fsblkcnt_t blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
      errno = ENOSPC;
      return std::uint64_t{blocks} * disk.f_frsize >= ROOM;
    }


    bool CanWrite(int descriptor)
    {
      const Block block = {};
      errno = ENOSPC;  // a write that is cut short says nothing
      return write(descriptor, block.data(), block.size()) == static_cast<ssize_t>(block.size()) &&
             fsync(descriptor) == 0;
    }


    // On a thread that outlives its plugin's objects, so of nothing but its argument
    std::string TryToStore(const std::string& folder)
    {
      const FileDescriptor file(OpenFile(folder));
      const bool isWell = file.Get() >= 0 && HasRoom(file.Get()) && CanWrite(file.Get());
      return isWell ? "" : std::generic_category().message(errno);
    }
  }


  StorageTrial::StorageTrial(std::string folder) : folder_(std::move(folder))
  {
  }


  std::string StorageTrial::Try(std::chrono::seconds patience)
  {
    if (!result_.valid())
    {
      std::packaged_task<std::string(std::string)> task(&TryToStore);
      std::future<std::string> result = task.get_future();
      std::thread(std::move(task), folder_).detach();
      result_ = std::move(result);
    }

    if (result_.wait_for(patience) != std::future_status::ready)
    {
      return "no answer for " + std::to_string(patience.count()) + " s";
    }

    return result_.get();
  }
}
