// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Make = std::unique_ptr<IRule> (*)();

    constexpr Make OF_ELAPSED_TIME[] = {&MakeFsyncRule, &MakeStorageRule, &MakeIndexRule,
                                        &MakeCommitRule};
  }


  std::vector<std::unique_ptr<IRule>> MakeAllRules()
  {
    constexpr Make OTHERS[] = {
        &MakeDelayedAckRule,   &MakeSocketBufferRule,       &MakeKernelBufferRule,
        &MakePeerWindowRule,   &MakePeerBufferRule,         &MakeSenderRule,
        &MakeReceiverRule,     &MakeAssociationSetupRule,   &MakeSmallPduRule,
        &MakeMd5Rule,          &MakeStorageCompressionRule, &MakeOverwriteRule,
        &MakeDicomThreadsRule, &MakeParallelismRule,        &MakeHttpCompressionRule,
        &MakeKeepAliveRule,    &MakeTranscodingRule,        &MakeSwitchedOffEngineRule,
        &MakeLogLevelRule,     &MakeAssertionsRule,         &MakeChecklistRule};

    std::vector<std::unique_ptr<IRule>> ofElapsedTime;

    for (const Make make : OF_ELAPSED_TIME)
    {
      ofElapsedTime.push_back(make());
    }

    std::vector<std::unique_ptr<IRule>> rules;
    rules.push_back(MakeProcessorRule(std::move(ofElapsedTime)));

    for (const Make make : OTHERS)
    {
      rules.push_back(make());
    }

    return rules;
  }
}
