// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  std::vector<Rule> MakeAllRules()
  {
    const std::vector<Rule> ofElapsedTime = {&JudgeFsync, &JudgeStorage, &JudgeIndex, &JudgeCommit};
    const auto judgeProcessor = [ofElapsedTime](const Evidence& evidence)
    {
      return JudgeProcessor(ofElapsedTime, evidence);
    };

    return {Rule(judgeProcessor),
            &JudgeDatabaseLatency,
            &JudgeDatabaseConnections,
            &JudgeFailures,
            &JudgeStuck,
            &JudgeDelayedAck,
            &JudgeSocketBuffer,
            &JudgeKernelBuffer,
            &JudgePeerWindow,
            &JudgePeerBuffer,
            &JudgeSender,
            &JudgeReceiver,
            &JudgeAssociationSetup,
            &JudgeMd5,
            &JudgeStorageCompression,
            &JudgeOverwrite,
            &JudgeDicomThreads,
            &JudgeParallelism,
            &JudgeHttpCompression,
            &JudgeTranscoding,
            &JudgeSwitchedOffEngine,
            &JudgeMemory,
            &JudgeIngestMemory,
            Rule(&JudgeChecklist)};
  }
}
