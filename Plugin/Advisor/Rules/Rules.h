// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"

namespace OrthancPerf
{
  // All rules there are. Each has what it takes for enough evidence, and why, before it; adding a
  // rule is adding a function and two lines.

  // Network: by peer
  std::optional<Finding> JudgeDelayedAck(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgeSocketBuffer(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgeKernelBuffer(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgePeerWindow(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgePeerBuffer(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgeSender(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgeReceiver(const PeerEvidence& peer, const Evidence& evidence);
  std::optional<Finding> JudgeAssociationSetup(const PeerEvidence& peer, const Evidence& evidence);

  // What does not arrive, or does not go on
  std::optional<Finding> JudgeFailures(const Evidence& evidence);
  std::optional<Finding> JudgeStuck(const Evidence& evidence);

  // Storing: the whole server
  std::optional<Finding> JudgeFsync(const Evidence& evidence);
  std::optional<Finding> JudgeStorage(const Evidence& evidence);
  std::optional<Finding> JudgeIndex(const Evidence& evidence);
  std::optional<Finding> JudgeCommit(const Evidence& evidence);
  std::optional<Finding> JudgeDatabaseLatency(const Evidence& evidence);
  std::optional<Finding> JudgeDatabaseConnections(const Evidence& evidence);
  std::optional<Finding> JudgeMd5(const Evidence& evidence);
  std::optional<Finding> JudgeStorageCompression(const Evidence& evidence);
  std::optional<Finding> JudgeOverwrite(const Evidence& evidence);

  // Those of storing judge by elapsed time. While other work keeps the processor busy, that says
  // nothing about disks and databases: this one keeps them from it, and says so instead. They see
  // what was received while there was processor time to be had; what they would say of the rest
  // has one cause, and is one finding.
  std::vector<Finding> JudgeProcessor(const std::vector<Rule>& ofElapsedTime,
                                      const Evidence& evidence);

  // Threads and HTTP
  std::optional<Finding> JudgeDicomThreads(const Evidence& evidence);
  std::optional<Finding> JudgeParallelism(const Evidence& evidence);
  std::optional<Finding> JudgeHttpCompression(const Evidence& evidence);

  // Transcoding
  std::optional<Finding> JudgeTranscoding(const Evidence& evidence);
  std::optional<Finding> JudgeSwitchedOffEngine(const Evidence& evidence);

  // What Orthanc is built and configured like
  std::optional<Finding> JudgeMemory(const Evidence& evidence);
  std::optional<Finding> JudgeIngestMemory(const Evidence& evidence);
  std::vector<Finding> JudgeChecklist(const Evidence& evidence);

  std::vector<Rule> MakeAllRules();
}
