// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/GatheredFile.h"

#include "Threads.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t PIECE = 4096;
    constexpr int NEW_FILE = O_WRONLY | O_CREAT | O_TRUNC;

    std::string MakeContent(std::size_t size)
    {
      std::string content(size, '\0');
      std::generate(content.begin(), content.end(),
                    [number = 0U]() mutable
                    { return static_cast<char>((number++ * 2654435761U) >> 24U); });
      content.replace(128, 4, "DICM");
      return content;
    }

    // Files of this process may not be larger
    class SizeLimit
    {
    public:
      explicit SizeLimit(std::size_t size) : handler_(std::signal(SIGXFSZ, SIG_IGN))
      {
        EXPECT_EQ(0, getrlimit(RLIMIT_FSIZE, &former_));
        const rlimit limit = {size, former_.rlim_max};
        EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
      }

      ~SizeLimit()
      {
        EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &former_));
        static_cast<void>(std::signal(SIGXFSZ, handler_));
      }

    private:
      rlimit former_ = {};
      void (*const handler_)(int);
    };

    // As Orthanc writes into its folder
    class GatheredFileTest : public testing::Test
    {
    protected:
      void SetUp() override
      {
        ASSERT_NE(nullptr, mkdtemp(folder_.data()));
        GatheredFile::SetFolder(folder_.c_str());
        GatheredFile::Start();
      }

      ~GatheredFileTest() override
      {
        file_.Expect(0);
        GatheredFile::Stop();
        GatheredFile::SetFolder(nullptr);
        std::filesystem::remove_all(folder_);
      }

      int Open(std::size_t expected, int flags = NEW_FILE)
      {
        const std::string path = folder_ + "/file";
        const int fd = open(path.c_str(), flags, 0600);
        EXPECT_LE(0, fd);
        file_.Expect(expected);
        file_.OnOpened(path.c_str(), flags, fd);
        return fd;
      }

      // A disk that is full, in place of a file
      int OpenFull(std::size_t expected)
      {
        const int fd = open("/dev/full", O_WRONLY);
        EXPECT_LE(0, fd);
        file_.Expect(expected);
        file_.OnOpened((folder_ + "/file").c_str(), NEW_FILE, fd);
        EXPECT_TRUE(file_.Has(fd));
        return fd;
      }

      // As the probe's hook
      ssize_t Write(int fd, const std::string& content, std::size_t begin, std::size_t size = PIECE)
      {
        size = std::min(size, content.size() - begin);
        const char* const data = content.data() + begin;
        return file_.Has(fd) ? file_.Write(data, size) : write(fd, data, size);
      }

      // All of the content, in pieces
      void WriteAll(int fd, const std::string& content)
      {
        for (std::size_t begin = 0; begin < content.size(); begin += PIECE)
        {
          const std::size_t size = std::min(PIECE, content.size() - begin);
          ASSERT_EQ(static_cast<ssize_t>(size), Write(fd, content, begin));
        }
      }

      // Zero, or errno(3)
      int Close(int fd)
      {
        const int error = file_.End(fd) == 0 ? 0 : errno;
        EXPECT_FALSE(file_.Has(fd));
        EXPECT_EQ(0, close(fd));
        return error;
      }

      std::size_t GetSize() const
      {
        return std::filesystem::file_size(folder_ + "/file");
      }

      std::string Read(const std::string& name = "file") const
      {
        std::ifstream stream(folder_ + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
      }

      std::string folder_ = testing::TempDir() + "gathered-XXXXXX";
      GatheredFile& file_ = GatheredFile::OfThisThread();
    };
  }

  TEST_F(GatheredFileTest, AllFullPiecesAreWrittenWithTheLastOfThem)
  {
    const std::string content = MakeContent(10 * PIECE + 100);
    const int fd = Open(content.size());
    ASSERT_TRUE(file_.Has(fd));

    for (std::size_t piece = 0; piece < 10; piece++)
    {
      EXPECT_EQ(0U, GetSize()) << piece;
      EXPECT_EQ(static_cast<ssize_t>(PIECE), Write(fd, content, piece * PIECE));
    }

    EXPECT_EQ(10 * PIECE, GetSize());
    EXPECT_EQ(100, Write(fd, content, 10 * PIECE));
    EXPECT_EQ(content, Read());
    EXPECT_EQ(0, Close(fd));
  }

  TEST_F(GatheredFileTest, FilesOfEachSizeArriveWholeWhateverIsExpected)
  {
    for (const std::size_t size : {std::size_t{132}, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE,
                                   7 * PIECE + 1, std::size_t{525362}})
    {
      const std::string content = MakeContent(size);

      for (const std::size_t expected : {size, size / 4 * 3, size + PIECE})
      {
        const int fd = Open(expected);
        WriteAll(fd, content);
        EXPECT_EQ(0, Close(fd));
        EXPECT_EQ(content, Read()) << size << " of " << expected;
      }
    }
  }

  TEST_F(GatheredFileTest, MoreThanItsCapacityIsWrittenInParts)
  {
    const std::string content = MakeContent(2 * GatheredFile::CAPACITY + 5 * PIECE + 1);
    const int fd = Open(content.size());

    for (std::size_t begin = 0; begin < content.size(); begin += PIECE)
    {
      ASSERT_LT(0, Write(fd, content, begin));
      ASSERT_LE(begin - std::min(begin, GatheredFile::CAPACITY), GetSize());
    }

    EXPECT_EQ(0, Close(fd));
    EXPECT_EQ(content, Read());

    const int other = Open(content.size());
    EXPECT_EQ(static_cast<ssize_t>(content.size()), Write(other, content, 0, content.size()));
    EXPECT_EQ(0, Close(other));
    EXPECT_EQ(content, Read());
  }

  TEST_F(GatheredFileTest, OnlyDicomFilesThatOrthancCreatesForAnInstanceAreHeldBack)
  {
    const std::string content = MakeContent(3 * PIECE);
    struct Other
    {
      std::size_t expected;
      int flags;
    };

    for (const Other& other : {Other{0, NEW_FILE}, Other{content.size(), O_RDWR | O_CREAT},
                               Other{content.size(), NEW_FILE | O_APPEND},
                               Other{content.size(), O_RDWR | O_CREAT | O_TRUNC}})
    {
      const int fd = Open(other.expected, other.flags);
      EXPECT_FALSE(file_.Has(fd));
      EXPECT_EQ(0, Close(fd));
    }

    const int elsewhere = open("/dev/null", O_WRONLY);
    file_.Expect(content.size());
    file_.OnOpened("/dev/null", NEW_FILE, elsewhere);
    EXPECT_FALSE(file_.Has(elsewhere));
    file_.OnOpened((folder_ + "-beside/file").c_str(), NEW_FILE, elsewhere);
    EXPECT_FALSE(file_.Has(elsewhere));
    EXPECT_EQ(0, Close(elsewhere));
    file_.OnOpened((folder_ + "/file").c_str(), NEW_FILE, -1);
    EXPECT_FALSE(file_.Has(-1));

    const std::string compressed(3 * PIECE, 'x');
    const int fd = Open(compressed.size());
    EXPECT_EQ(static_cast<ssize_t>(PIECE), Write(fd, compressed, 0));
    EXPECT_EQ(PIECE, GetSize());
    EXPECT_EQ(0, Close(fd));

    GatheredFile::SetFolder(nullptr);
    const int late = Open(content.size());
    EXPECT_FALSE(file_.Has(late));
    EXPECT_EQ(0, Close(late));
  }

  TEST_F(GatheredFileTest, AFullDiskIsSeenWithTheLastFullPieceAndFromThenOn)
  {
    const std::string content = MakeContent(3 * PIECE + 100);
    const int fd = OpenFull(content.size());
    EXPECT_LT(0, Write(fd, content, 0));
    EXPECT_LT(0, Write(fd, content, PIECE));
    errno = 0;
    EXPECT_EQ(-1, Write(fd, content, 2 * PIECE));
    EXPECT_EQ(ENOSPC, errno);
    EXPECT_EQ(-1, Write(fd, content, 3 * PIECE));
    EXPECT_EQ(ENOSPC, Close(fd));
  }

  // The stream of Orthanc keeps that error to itself
  TEST_F(GatheredFileTest, ARestThatIsNotWrittenIsAnErrorOfSyncAndClose)
  {
    const std::string content = MakeContent(PIECE + 100);
    const SizeLimit limit(PIECE);
    const int fd = Open(content.size());
    EXPECT_EQ(static_cast<ssize_t>(PIECE), Write(fd, content, 0));
    EXPECT_EQ(-1, Write(fd, content, PIECE));
    EXPECT_EQ(EFBIG, Close(fd));
  }

  // Boost.Iostreams before 1.80 closes a second time what could not be closed
  TEST_F(GatheredFileTest, WhatCloseDidNotWriteLeavesTheDescriptorToItsOwner)
  {
    const int fd = OpenFull(PIECE);
    EXPECT_EQ(-1, Write(fd, MakeContent(PIECE), 0));
    EXPECT_EQ(-1, file_.EndBeforeClose(fd));
    EXPECT_EQ(ENOSPC, errno);
    EXPECT_EQ(0, file_.EndBeforeClose(fd));
    file_.Expect(0);
    EXPECT_EQ(0, close(fd)) << "its owner closes it";

    const int other = OpenFull(PIECE);
    EXPECT_EQ(-1, Write(other, MakeContent(PIECE), 0));
    EXPECT_EQ(-1, file_.EndBeforeClose(other));
    file_.Expect(0);
    EXPECT_EQ(-1, fcntl(other, F_GETFD)) << "its owner has not closed it";

    // Orthanc 1.12.5 and newer try three times
    const int first = OpenFull(PIECE);
    EXPECT_EQ(-1, Write(first, MakeContent(PIECE), 0));
    EXPECT_EQ(-1, file_.EndBeforeClose(first));
    const int second = OpenFull(PIECE);
    EXPECT_NE(first, second);
    file_.Expect(0);
    EXPECT_EQ(-1, fcntl(first, F_GETFD));
    EXPECT_EQ(0, close(second));
  }

  TEST_F(GatheredFileTest, WhatWriteHasToldIsNoErrorOfClose)
  {
    const int fd = OpenFull(2 * PIECE + 1);
    const std::string content = MakeContent(2 * PIECE);
    EXPECT_LT(0, Write(fd, content, 0));
    EXPECT_EQ(-1, Write(fd, content, PIECE));
    EXPECT_EQ(0, file_.EndBeforeClose(fd));
    EXPECT_EQ(0, close(fd));
  }

  TEST_F(GatheredFileTest, WhatIsTakenInPartIsGoneOnWith)
  {
    const std::string content = MakeContent(4 * PIECE);
    const SizeLimit limit(PIECE + 1);
    const int fd = Open(content.size());
    EXPECT_LT(0, Write(fd, content, 0));
    EXPECT_LT(0, Write(fd, content, PIECE));
    EXPECT_EQ(-1, Write(fd, content, 2 * PIECE));
    EXPECT_EQ(EFBIG, errno);
    EXPECT_EQ(PIECE + 1, GetSize());
    EXPECT_EQ(EFBIG, Close(fd));
  }

  TEST_F(GatheredFileTest, AShortFileIsWrittenWhenItIsClosedAndAnErrorIsSeen)
  {
    const std::string content = MakeContent(2 * PIECE);
    const int fd = Open(10 * PIECE);
    WriteAll(fd, content);
    EXPECT_EQ(0U, GetSize());
    EXPECT_EQ(0, Close(fd));
    EXPECT_EQ(content, Read());

    const int full = OpenFull(10 * PIECE);
    WriteAll(full, content);
    EXPECT_EQ(ENOSPC, Close(full));
  }

  // Its number may be that of another file by now, as dup2(2) closes it out of sight
  TEST_F(GatheredFileTest, AFileThatIsLeftOpenIsForgottenWithItsInstance)
  {
    const std::string content = MakeContent(3 * PIECE);
    const int fd = Open(content.size());
    EXPECT_LT(0, Write(fd, content, 0));
    EXPECT_EQ(0U, GetSize());
    file_.Expect(0);
    EXPECT_FALSE(file_.Has(fd));
    EXPECT_EQ(0, Close(fd));
    EXPECT_EQ(0U, GetSize());

    EXPECT_EQ(fd, Open(content.size()));
    EXPECT_LT(0, Write(fd, content, 0));
    EXPECT_EQ(0, close(fd));
    EXPECT_EQ(fd, Open(content.size(), O_RDWR | O_CREAT | O_TRUNC));
    EXPECT_EQ(0, Close(fd));
    EXPECT_EQ("", Read());
  }

  TEST_F(GatheredFileTest, WhatIsHeldIsWrittenAfterItWasSwitchedOff)
  {
    const std::string content = MakeContent(3 * PIECE);
    const int fd = Open(content.size());
    EXPECT_LT(0, Write(fd, content, 0));
    std::thread stopping(&GatheredFile::Stop);
    EXPECT_LT(0, Write(fd, content, PIECE));
    EXPECT_LT(0, Write(fd, content, 2 * PIECE));
    EXPECT_EQ(0, Close(fd));
    stopping.join();
    EXPECT_EQ(content, Read());
  }

  // No more threads hold something than there is memory for
  TEST_F(GatheredFileTest, FurtherFilesGoOutAsTheyCome)
  {
    constexpr int COUNT = GatheredFile::SLOTS + 3;
    const std::string content = MakeContent(3 * PIECE);
    std::atomic<int> opened = 0;
    std::atomic<std::size_t> held = 0;
    const auto store = [&](int number)
    {
      GatheredFile& file = GatheredFile::OfThisThread();
      const std::string path = folder_ + "/" + std::to_string(number);
      const int fd = open(path.c_str(), NEW_FILE, 0600);
      file.Expect(content.size());
      file.OnOpened(path.c_str(), NEW_FILE, fd);
      held += file.Has(fd) ? 1 : 0;
      opened++;

      while (opened < COUNT)
      {
        std::this_thread::yield();
      }

      for (std::size_t begin = 0; begin < content.size(); begin += PIECE)
      {
        const char* const data = content.data() + begin;
        EXPECT_LT(0, file.Has(fd) ? file.Write(data, PIECE) : write(fd, data, PIECE));
      }

      EXPECT_EQ(0, file.End(fd));
      EXPECT_EQ(0, close(fd));
    };
    RunOnThreads(COUNT, store);
    EXPECT_EQ(GatheredFile::SLOTS, held);

    for (int i = 0; i < COUNT; i++)
    {
      EXPECT_EQ(content, Read(std::to_string(i)));
    }
  }
}
