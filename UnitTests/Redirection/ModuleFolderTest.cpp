// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/ModuleFolder.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(ModuleFolder, IsThatOfTheProgramInATest)
  {
    EXPECT_EQ(std::filesystem::canonical("/proc/self/exe").parent_path(), GetModuleFolder());
  }


  TEST(ModuleFolder, OfAModuleThatNobodyKnowsIsNoFolderAtAll)
  {
    EXPECT_EQ("/nonexistent", GetFolderOfModule(nullptr));
    EXPECT_EQ("/nonexistent", GetFolderOfModule("libMissing.so"));
    EXPECT_EQ("/nonexistent", GetFolderOfModule("missing/../libMissing.so"));
    EXPECT_FALSE(std::filesystem::exists("/nonexistent"));
  }


  TEST(ModuleFolder, LinksAndDetoursAreFollowed)
  {
    EXPECT_EQ("/usr/lib", GetFolderOfModule("/usr/lib/../lib/libMissing.so"));
    EXPECT_EQ(std::filesystem::canonical("/proc/self/exe").parent_path(),
              GetFolderOfModule("/proc/self/exe"));
  }
}
