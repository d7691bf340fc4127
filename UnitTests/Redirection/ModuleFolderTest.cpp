// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/ModuleFolder.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(ModuleFolder, IsThatOfTheModuleOrNoneAtAll)
  {
    const std::filesystem::path own = std::filesystem::canonical("/proc/self/exe").parent_path();
    EXPECT_EQ(own, GetModuleFolder());
    EXPECT_EQ(own, GetFolderOfModule("/proc/self/exe"));
    EXPECT_EQ("/usr/lib", GetFolderOfModule("/usr/lib/../lib/libMissing.so"));
    EXPECT_EQ("/nonexistent", GetFolderOfModule(nullptr));
    EXPECT_EQ("/nonexistent", GetFolderOfModule("libMissing.so"));
    EXPECT_EQ("/nonexistent", GetFolderOfModule("missing/../libMissing.so"));
    EXPECT_FALSE(std::filesystem::exists("/nonexistent"));
  }
}
