// SPDX-License-Identifier: GPL-3.0-or-later
// All that the page knows. Components read it; only the functions of this folder write it, but for
// "view", which is what the reader has chosen to see. Answers are replaced as a whole, never
// changed, so that they need no deep reactivity.
import { reactive, shallowReactive } from 'vue';
import type {
  Direction, Finding, Health, Instance, Job, JsonObject, Peer, Series, Served, Status, Tuning,
  TuningChange, TuningSources,
} from '../model/answers';
import type { Points } from '../model/history';
import type { Scale } from '../model/waterfall';

export type Connection = 'connecting' | 'live' | 'retrying' | 'forbidden';
export type Theme = 'auto' | 'light' | 'dark';

export interface Range {
  label: string;
  seconds: number;
  resolution: 'second' | 'minute';
}

export const RANGES: readonly Range[] = [
  { label: '5 min', seconds: 300, resolution: 'second' },
  { label: '15 min', seconds: 900, resolution: 'second' },
  { label: '1 h', seconds: 3600, resolution: 'second' },
  { label: '24 h', seconds: 86400, resolution: 'minute' },
];

export interface Comparison {
  resource: string;
  job: Job | null;
  problem: string;
}

// A finding whose remedy the reader has applied on this page
export interface AppliedFinding {
  id: string;
  title: string;
  document: JsonObject;
  time: number; // seconds since 1970, by the server's clock
  peers: readonly string[]; // that it was about; empty: about the server
  images: readonly number[]; // of each of those peers until then
}

// undefined: not known yet
export const state = shallowReactive({
  connection: 'connecting' as Connection,
  problem: '',
  updated: 0, // when the server last answered, seconds since 1970
  retryAt: 0,
  refusal: '', // of what is only a part of the page; empty: there is none

  status: undefined as Status | undefined,
  instances: {} as Readonly<Partial<Record<Direction, readonly Instance[]>>>,
  peers: [] as readonly Peer[],
  served: undefined as Served | undefined,
  tuning: undefined as Tuning | undefined,
  sources: undefined as TuningSources | undefined,
  health: undefined as Health | undefined,
  findings: undefined as readonly Finding[] | undefined,

  applied: [] as readonly AppliedFinding[],
  counted: {} as Readonly<Record<string, number>>, // new images of each, before the latest look for findings

  seconds: { Receive: [], Send: [] } as Points,
  minutes: { Receive: [], Send: [] } as Points,
  peerSeconds: { peer: '', points: { Receive: [], Send: [] } as Points }, // of the peer that was picked last
  changes: [] as readonly TuningChange[],

  isChanging: false,
  tuningForbidden: '', // by a filter or a proxy, and why; empty: it is not
  message: '',
  isMessageProblem: false,

  series: undefined as readonly Series[] | undefined,
  comparison: null as Comparison | null,
});

export const view = reactive({
  theme: 'auto' as Theme,
  isDark: false, // by the theme, or the system's
  direction: 'Receive' as Direction,
  range: RANGES[0] as Range,
  scale: 'clock' as Scale,
  heldInstances: null as readonly Instance[] | null, // while the reader looks at the waterfall
  selectedRow: '',
  open: [] as string[], // parts that can be folded, and are not
  peer: '', // the only one whose instances are shown; empty: all
  onlyFailed: false, // of the latest instances
  requests: 'Latest' as 'Latest' | 'Slowest', // of those that read
  requestClass: '', // the only one whose requests are shown; empty: all
  requestClient: '', // likewise
  targets: ['1.2.840.10008.1.2.4.70'] as string[],
  resource: '',
});

export function now(): number {
  return Date.now() / 1000;
}

// What became of the last thing the reader did
export function tell(message: string, isProblem = false): void {
  state.isMessageProblem = isProblem;
  state.message = message;
}
