// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace OrthancPerf
{
  // The file of an instance, written at once. Orthanc's stream (Boost.Iostreams) writes pieces of
  // 4 KiB, which are held back and written together.
  //
  //   file.Expect(size);                     // the filter knows the instance
  //   file.OnOpened(path, flags, fd);        // held back from now on, if it is one of Orthanc's
  //   if (file.Has(fd)) file.Write(…);       // as write(2)
  //   if (file.End(fd) == 0) fdatasync(fd);  // before anything else is done with the descriptor
  //
  // SystemToolbox::WriteFile (1.10.1 to 1.13.0) checks for an error after the last full piece. So
  // the call that brings this piece writes all of them; the size of the instance tells which it is.
  // The stream hides an error of the rest: fdatasync(2) or close(2) returns it, which Orthanc sees.
  //
  // Each thread has one, for the hooks of the probe: no lock, no allocation. It holds pieces only
  // between open(2) and close(2).
  class GatheredFile
  {
  public:
    static constexpr std::size_t CAPACITY = std::size_t{1} << 20;  // larger files in several parts
    static constexpr std::size_t SLOTS = 8;  // threads at once; others write as ever

    static GatheredFile& OfThisThread() noexcept;

    // From now on, files in this folder are gathered; null: none. The path outlives that.
    static void SetFolder(const char* path) noexcept;

    // Once all calls are seen
    static void Start() noexcept;

    // Before calls are seen no longer. Waits until no thread holds anything.
    static void Stop() noexcept;

    // In a child of fork(2)
    static void ForgetParent() noexcept;

    // The thread stores an instance of this size; 0: no longer. Forgets an earlier file.
    void Expect(std::size_t size) noexcept;

    // As open(2) was called, and has answered
    void OnOpened(const char* path, int flags, int fd) noexcept;

    bool Has(int fd) const noexcept
    {
      return fd == fd_ && fd >= 0;
    }

    // As write(2), to the file that it has
    ssize_t Write(const void* data, std::size_t size);

    // If it has this file, writes the pieces and forgets the file. -1 with errno(3) if this or an
    // earlier write failed.
    int End(int fd);

    // The same before close(2). An error that the stream was told by Write() is none here. After
    // another, close(2) must not follow: the caller gets the error, and Boost.Iostreams before 1.80
    // then closes the descriptor again. Its number could be another file's by then. If the caller
    // does not, Expect() or the next open(2) closes it.
    int EndBeforeClose(int fd);

  private:
    void WriteOut();
    void CloseFailed() noexcept;

    std::size_t expected_ = 0;
    int fd_ = -1;
    int failed_ = -1;  // the descriptor that EndBeforeClose() has left open
    std::size_t slot_ = 0;
    int error_ = 0;          // errno(3) of what was written
    bool isTold_ = false;    // the stream, with a piece that is not the last one
    std::size_t held_ = 0;   // bytes in the slot
    std::size_t taken_ = 0;  // bytes of the file
  };
}
