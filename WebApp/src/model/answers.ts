// SPDX-License-Identifier: GPL-3.0-or-later
// What the plugin and Orthanc answer; openapi.yaml is the reference. Times are seconds, sizes
// bytes.

export type Direction = 'Receive' | 'Send';

export type PhaseName =
  | 'Idle'
  | 'Receive'
  | 'Parse'
  | 'Transcode'
  | 'Prepare'
  | 'Storage'
  | 'Sync'
  | 'Remote'
  | 'Index'
  | 'Database'
  | 'Commit'
  | 'Respond'
  | 'Connect'
  | 'Associate'
  | 'Send'
  | 'Wait';

export type PhaseTimes = Partial<Record<PhaseName, number>>;
export type PartName = PhaseName | 'Stalled' | 'Work'; // as shown in bars

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Latency {
  Count: number;
  Total: number;
  P50: number;
  P90: number;
}

// Absent where nobody looked for stalls
export interface StallTimes {
  StallTime?: number;
  StallTimeInIdle?: number; // of it, what lies in the pause before the instance; the rest lies in phases
}

export interface Traffic extends StallTimes {
  Instances: number;
  Bytes: number;
  InstancesPerSecond: number;
  BytesPerSecond: number;
  Outcomes: { Stored: number; Discarded: number; Failed: number };
  Stalls?: number;
  RemoteRoundTrips?: number;
  DatabaseRoundTrips?: number;
  Duration?: Latency;
  Phases: Partial<Record<PhaseName, Latency>>;
}

export interface TrafficWindow {
  Length: number;
  Receive: Traffic;
  Send: Traffic;
}

export interface Status {
  Versions: { Plugin: string; Orthanc: string };
  Tuning: { NotYetInEffect: string[]; Unsaved: boolean; Allowed?: boolean };
  Ingest: { InFlight: Record<string, number> };
  Probe: { Installed: boolean; Reason?: string };
  DicomSockets: { Problems: string[]; Connections: unknown[] };
  Windows: TrafficWindow[];
  Transcoding: TranscodingStatus;
  Memory: MemoryStatus;
}

// Whether the server can store
export interface Health {
  Healthy: boolean;
  Problems: Record<string, string>; // what is wrong, by the part that it is wrong with
}

// Of large images on their way in
export interface MemoryStatus {
  Limit?: number; // that the process may have
  IngestBudget: number; // in force; 0: off
  Held: number; // counted now, each byte as often as Orthanc holds it
  InFlight: number; // messages that count now
  Waiting: number;
  Waits: number; // since Orthanc started, as all below
  Waited: number;
  GivenUp: number; // that were admitted over the budget after the longest wait
}

export type SyntaxState = 'Untested' | 'Works' | 'Unsupported' | 'SwitchedOff';

export interface EngineStatus {
  Name: string;
  Available: boolean;
  Reason?: string;
  Syntaxes: { TransferSyntax: string; Name: string; State: SyntaxState; Reason?: string }[];
}

export interface TranscodingStatus {
  InEffect: boolean;
  Reason?: string;
  Engines: EngineStatus[];
  Failures: { Engine: string | null; Target: string; Reason: string; Count: number }[];
}

// What was asked of a server for an instance
export interface Asked {
  RoundTrips: number;
  Server?: string;
}

export interface Instance extends StallTimes {
  ID: string | null;
  Direction: Direction;
  Origin: string;
  Outcome: 'Stored' | 'Discarded' | 'Failed';
  Reason?: string;
  Peer: string;
  Address: string;
  Size: number;
  FinishedAt: string;
  Duration: number;
  Phases: PhaseTimes;
  Stalls?: number;
  Remote?: Asked;
  Database?: Asked;
  Transcoding?: {
    Engine: string | null;
    Target: string;
    Outcome: 'Transcoded' | 'Declined' | 'Failed' | 'Duplicate';
    Reason?: string;
    Size?: number;
  };
}

export interface Tcp {
  RoundTrip?: number;
  MinimumRoundTrip?: number;
  SendWindow?: number;
  ReceiveWindow?: number;
}

// Why an association was never established
export type FailedCall = 'Rejected' | 'Incomplete' | 'Refused' | 'Timeout' | 'Unreachable' | 'Unresolved' | 'Tls';

export interface PeerTraffic extends StallTimes {
  Instances: number;
  Bytes: number;
  InstancesPerSecond: number;
  BytesPerSecond: number;
  Outcomes: { Stored: number; Discarded: number; Failed: number };
  PhaseTimes: PhaseTimes;
  Stalls?: number;
  RemoteRoundTrips?: number;
  DatabaseRoundTrips?: number;
  Associations?: { Open?: number; LatestRejection?: string } & Partial<Record<FailedCall, number>>;
  ImplementationVersion?: string;
  MaximumPduLength?: number;
  Tcp?: Tcp;
}

export interface Peer {
  Name: string;
  Address: string;
  Receive?: PeerTraffic;
  Send?: PeerTraffic;
}

// HTTP requests that read
export interface ReadSums {
  Requests: number;
  Failed: number;
  Bytes: number;
  ClientWait: number;
  PhaseTimes: Partial<Record<PartName, number>>;
}

export interface ReadRequest {
  Class: string;
  Status?: number;
  Address: string;
  Product?: string;
  Size: number;
  FinishedAt: string;
  Duration: number;
  Phases: Partial<Record<PartName, number>>;
}

export interface Served {
  Classes: Record<string, ReadSums>; // by class of route
  Latest: ReadRequest[];
  Slowest: ReadRequest[]; // at most an hour old
}

export interface DicomSockets {
  Preset: string;
  TcpNoDelay: boolean;
  TcpQuickAck: boolean;
  ReceiveBuffer: number | string;
  SendBuffer: number | string;
  KeepAliveSeconds: number;
  UserTimeoutSeconds: number;
  CongestionControl: string;
}

export interface IngestTranscoding {
  TransferSyntax: string;
  Engine: string;
  Verify: boolean;
  LossyQuality: number;
  OfCompressed: boolean;
  OrthancTranscoding: boolean;
}

export interface MemoryTuning {
  IngestBudget: number | string; // bytes, or a share such as "25%"; 0: off
  IngestWaitSeconds: number;
}

export interface AnswerTuning {
  ArchiveLevel: number | string; // 0 to 9, or "default"
  HttpLevel: number | string;
  PreviewLevel: number | string;
}

export interface StorageTuning {
  WriteAtOnce: boolean;
}

export interface Tuning {
  DicomSockets: DicomSockets;
  IngestTranscoding: IngestTranscoding;
  Memory: MemoryTuning;
  Answers: AnswerTuning;
  Storage: StorageTuning;
}

// Where a value of the tuning comes from, and what it would be without the changes over REST
export interface TuningSource {
  Value: Json;
  Source: 'Default' | 'Configuration' | 'REST';
  Configured?: Json;
}

export type TuningSources = Record<keyof Tuning, Record<string, TuningSource | undefined> | undefined>;

// Who asked for a change of the tuning
export interface TuningAuthor {
  Origin: 'RestApi' | 'Internal';
  Address?: string;
  User?: string;
}

// A change of the tuning, by this page or by someone else
export interface TuningChange {
  Time: number; // seconds since 1970
  Change: JsonObject; // the keys that are different since, with their new values
  Undo: JsonObject; // what brings back what was before
  By: TuningAuthor;
}

export type ToldChange = Omit<TuningChange, 'Time'> & { Time: string };

export interface HistoryTraffic {
  Instances: number[];
  Bytes: number[];
  StallSeconds?: number[];
  StallIdleSeconds?: number[]; // of them, those in the pauses before the instances
  Phases: Partial<Record<PhaseName, number[]>>;
}

export interface HistoryAnswer {
  Resolution: number;
  Begin: string;
  Receive: HistoryTraffic;
  Send: HistoryTraffic;
  BudgetHeld: number[]; // the most bytes of large images at once
  BudgetWaiting: number[]; // the most of them that waited at once
  TuningChanges: ToldChange[];
}

export interface Finding {
  ID: string;
  Peer?: string;
  Title: string;
  Explanation: string;
  Evidence: Record<string, number | string>;
  Cost: { ShareOfIngestTime?: number | null; EstimatedGain?: number | null } | null;
  Remedy: {
    Kind: 'Tuning' | 'Configuration' | 'System' | 'Peer';
    Tuning?: JsonObject;
    Configuration?: JsonObject;
    Text: string;
  };
}

// What one engine made of one target, in a comparison
export interface EngineResult {
  Engine: string;
  TransferSyntax: string;
  Transcoded: number;
  Declined: number;
  Failed: number;
  Reason?: string;
  Ratio?: number;
  EncodeBytesPerSecond?: number;
  DecodeBytesPerSecond?: number;
  Lossless?: boolean;
  MeanError?: number;
}

export interface ComparisonContent {
  Instances: number;
  FinishedInstances: number;
  Results: EngineResult[];
}

export interface Job {
  ID: string;
  State: 'Pending' | 'Running' | 'Success' | 'Failure' | 'Paused' | 'Retry';
  Progress: number;
  ErrorDescription?: string;
  Content: ComparisonContent;
}

export interface Series {
  ID: string;
  Instances?: string[];
  MainDicomTags: Record<string, string>;
}
