// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"

#include <memory>
#include <vector>

namespace OrthancPerf
{
  // All rules there are. Each is a small class in a file of its own, with what it takes for
  // enough evidence, and why, at the top; adding a rule is adding a file and two lines.

  // Network: by peer
  std::unique_ptr<IRule> MakeDelayedAckRule();
  std::unique_ptr<IRule> MakeSocketBufferRule();
  std::unique_ptr<IRule> MakeKernelBufferRule();
  std::unique_ptr<IRule> MakePeerWindowRule();
  std::unique_ptr<IRule> MakePeerBufferRule();
  std::unique_ptr<IRule> MakeSenderRule();
  std::unique_ptr<IRule> MakeReceiverRule();
  std::unique_ptr<IRule> MakeAssociationSetupRule();
  std::unique_ptr<IRule> MakeSmallPduRule();

  // Those of storing judge by elapsed time. While other work keeps the processor busy, that says
  // nothing about disks and databases: this one keeps them from it, and says so instead.
  std::unique_ptr<IRule> MakeProcessorRule(std::vector<std::unique_ptr<IRule>> rules);

  // Storing: the whole server
  std::unique_ptr<IRule> MakeFsyncRule();
  std::unique_ptr<IRule> MakeStorageRule();
  std::unique_ptr<IRule> MakeIndexRule();
  std::unique_ptr<IRule> MakeCommitRule();
  std::unique_ptr<IRule> MakeMd5Rule();
  std::unique_ptr<IRule> MakeStorageCompressionRule();
  std::unique_ptr<IRule> MakeOverwriteRule();

  // Threads and HTTP
  std::unique_ptr<IRule> MakeDicomThreadsRule();
  std::unique_ptr<IRule> MakeParallelismRule();
  std::unique_ptr<IRule> MakeHttpCompressionRule();
  std::unique_ptr<IRule> MakeKeepAliveRule();

  // Transcoding
  std::unique_ptr<IRule> MakeTranscodingRule();
  std::unique_ptr<IRule> MakeSwitchedOffEngineRule();

  // What Orthanc is built and configured like
  std::unique_ptr<IRule> MakeLogLevelRule();
  std::unique_ptr<IRule> MakeAssertionsRule();
  std::unique_ptr<IRule> MakeChecklistRule();

  std::vector<std::unique_ptr<IRule>> MakeAllRules();
}
