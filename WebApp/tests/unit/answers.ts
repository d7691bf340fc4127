// SPDX-License-Identifier: GPL-3.0-or-later
// Answers for the unit tests, as the plugin gives them.
import type { HistoryAnswer, HistoryTraffic, Instance, Tuning } from '../../src/model/answers';
import { toMoment } from '../../src/model/format';

export function makeInstance(changes: Partial<Instance> = {}): Instance {
  return {
    ID: '81d8eeb1-caf92e34-5715207e-7a1f25bf-ee08b27d',
    Direction: 'Receive',
    Origin: 'DicomProtocol',
    Outcome: 'Stored',
    Peer: 'CT_ROOM_1',
    Address: '127.0.0.1',
    Size: 525364,
    FinishedAt: '20261121T113510.000000',
    Duration: 0.01,
    Phases: { Idle: 0.002, Receive: 0.004, Prepare: 0.001, Storage: 0.003, Sync: 0.001, Index: 0.002 },
    Stalls: 0,
    StallTime: 0,
    StallTimeInIdle: 0,
    ...changes,
  };
}

function makeTraffic(instances: number[]): HistoryTraffic {
  const zeros = instances.map(() => 0);
  return {
    Instances: instances,
    Bytes: instances.map((count) => count * 1000),
    StallSeconds: zeros,
    StallIdleSeconds: zeros,
    Phases: { Receive: instances.map((count) => count * 0.001) },
  };
}

export function makeHistory(begin: number, instances: number[], resolution = 1): HistoryAnswer {
  return {
    Resolution: resolution,
    Begin: toMoment(begin),
    Receive: makeTraffic(instances),
    Send: makeTraffic(instances.map(() => 0)),
    BudgetHeld: instances.map((count) => count * 1e6),
    BudgetWaiting: instances,
    TuningChanges: [],
  };
}

export function makeTuning(sockets: Partial<Tuning['DicomSockets']> = {}): Tuning {
  return {
    DicomSockets: {
      Preset: 'tuned',
      TcpNoDelay: true,
      TcpQuickAck: true,
      ReceiveBuffer: 'auto',
      SendBuffer: 'auto',
      KeepAliveSeconds: 60,
      UserTimeoutSeconds: 0,
      CongestionControl: '',
      ...sockets,
    },
    IngestTranscoding: {
      TransferSyntax: '', Engine: 'auto', Verify: false, LossyQuality: 90, OfCompressed: false,
      OrthancTranscoding: false,
    },
    Memory: { IngestBudget: 0, IngestWaitSeconds: 30 },
    Answers: { ArchiveLevel: 'default', HttpLevel: 'default', PreviewLevel: 'default' },
    Storage: { WriteAtOnce: false },
  };
}
