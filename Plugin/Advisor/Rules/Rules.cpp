// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  std::vector<std::unique_ptr<IRule>> MakeAllRules()
  {
    using Make = std::unique_ptr<IRule> (*)();

    constexpr Make ALL[] = {&MakeDelayedAckRule,
                            &MakeSocketBufferRule,
                            &MakeKernelBufferRule,
                            &MakePeerWindowRule,
                            &MakePeerBufferRule,
                            &MakeSenderRule,
                            &MakeReceiverRule,
                            &MakeAssociationSetupRule,
                            &MakeSmallPduRule,
                            &MakeFsyncRule,
                            &MakeStorageRule,
                            &MakeIndexRule,
                            &MakeCommitRule,
                            &MakeMd5Rule,
                            &MakeStorageCompressionRule,
                            &MakeOverwriteRule,
                            &MakeDicomThreadsRule,
                            &MakeParallelismRule,
                            &MakeHttpCompressionRule,
                            &MakeKeepAliveRule,
                            &MakeTranscodingRule,
                            &MakeSwitchedOffEngineRule,
                            &MakeLogLevelRule,
                            &MakeAssertionsRule,
                            &MakeChecklistRule};

    std::vector<std::unique_ptr<IRule>> rules;

    for (const Make make : ALL)
    {
      rules.push_back(make());
    }

    return rules;
  }
}
