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
  }


  void TryToStore(const std::string& folder, std::function<void(const std::string&)> answer)
  {
    // On a thread that may outlive its plugin's objects, so of nothing but its arguments
    const auto work = [folder, answer = std::move(answer)]
    {
      try
      {
        const FileDescriptor file(OpenFile(folder));
        const bool isWell = file.Get() >= 0 && HasRoom(file.Get()) && CanWrite(file.Get());
        answer(isWell ? "" : std::generic_category().message(errno));
      }
      catch (const std::bad_alloc&)
      {
        answer(
            "out of memory");  // so short that it takes none; without an answer nobody asks again
      }
    };

    std::thread(work).detach();
  }
}
