// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WrittenFiles.h"

#include "Ingest/PhaseText.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace OrthancPerf
{
  using std::chrono::milliseconds;

  TEST(WrittenFiles, SeveralFilesAreOneStorageFromTheFirstToTheLast)
  {
    WrittenFiles files;
    files.Begin();
    files.OnCreated(5, At(1));
    files.OnSynced(5, At(3), At(5));
    files.OnClosed(5, At(8));
    files.OnCreated(6, At(9));
    files.OnSynced(6, At(9), At(10));
    files.OnClosed(6, At(11));

    const std::optional<StoredFile> file = files.Take();
    ASSERT_TRUE(file);
    EXPECT_EQ(At(1), file->created);
    EXPECT_EQ(At(11), file->closed);
    EXPECT_EQ(milliseconds(3), file->sync);
    EXPECT_FALSE(files.Take());

    // At once: the latest counts
    files.Begin();
    files.OnCreated(5, At(1));
    files.OnCreated(6, At(2));
    files.OnClosed(5, At(3));
    EXPECT_TRUE(files.IsOpen(6));
    files.OnClosed(6, At(4));
    const std::optional<StoredFile> latest = files.Take();
    ASSERT_TRUE(latest);
    EXPECT_EQ(At(1), latest->created);
    EXPECT_EQ(At(4), latest->closed);
  }

  TEST(WrittenFiles, OthersMayKnowWhetherAllOfThemAreClosed)
  {
    std::atomic<bool> isClosed = true;
    WrittenFiles files;
    files.Begin(&isClosed);
    EXPECT_FALSE(isClosed);
    files.OnCreated(5, At(1));
    EXPECT_FALSE(isClosed);
    files.OnClosed(5, At(4));
    EXPECT_TRUE(isClosed);
    files.OnCreated(5, At(5));
    EXPECT_FALSE(isClosed);
    files.OnClosed(5, At(6));
    files.Take();
    files.Begin();
    EXPECT_TRUE(isClosed);  // that is another instance
  }

  TEST(WrittenFiles, WhatIsOpenAlreadyDoesNotCount)
  {
    WrittenFiles files;
    files.OnCreated(4, At(1));
    files.Begin();
    files.OnCreated(5, At(1));
    files.OnClosed(5, At(2));
    files.OnSynced(4, At(3), At(4));
    files.OnClosed(4, At(5));
    files.OnClosed(5, At(6));  // a socket meanwhile

    const std::optional<StoredFile> file = files.Take();
    ASSERT_TRUE(file);
    EXPECT_EQ(At(2), file->closed);
    EXPECT_FALSE(file->sync);
  }

  TEST(WrittenFiles, WithoutAFileThatWasClosedThereIsNothingToTell)
  {
    WrittenFiles files;
    files.Begin();
    files.OnCreated(-1, At(1));
    files.OnClosed(-1, At(2));
    files.OnCreated(5, At(3));
    EXPECT_FALSE(files.Take());

    files.Begin();
    files.OnClosed(5, At(4));
    EXPECT_FALSE(files.Take());
  }

  TEST(WrittenFiles, DatabasesAndLogsAreTold)
  {
    EXPECT_TRUE(WrittenFiles::IsWritten(O_WRONLY | O_CREAT | O_TRUNC));
    EXPECT_TRUE(WrittenFiles::IsWritten(O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC));
    EXPECT_TRUE(WrittenFiles::IsWritten(O_RDWR | O_CREAT | O_TRUNC));
    EXPECT_FALSE(WrittenFiles::IsWritten(O_RDONLY));
    EXPECT_FALSE(WrittenFiles::IsWritten(O_RDONLY | O_DIRECTORY));
    EXPECT_FALSE(WrittenFiles::IsWritten(O_WRONLY | O_CREAT | O_APPEND));
    EXPECT_FALSE(WrittenFiles::IsWritten(O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC));
    EXPECT_FALSE(WrittenFiles::IsWritten(O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
  }
}
