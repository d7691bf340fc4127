// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of /perf/tuning in plain words.
import type { Json, JsonObject, Tuning, TuningSource } from './answers';
import { formatSize } from './format';

interface SettingBase {
  section: keyof Tuning;
  key: string;
  label: string;
  explanation: string;
  stock?: Json; // what the presets set; absent where they set nothing
  tuned?: Json;
}

export interface Choice {
  value: string | number;
  label: string;
}

export type Setting = SettingBase &
  (
    | { kind: 'switch' }
    | { kind: 'number'; unit: string; minimum: number; maximum: number; zero: string }
    | { kind: 'buffer' }
    | { kind: 'budget' }
    | { kind: 'choice'; choices: readonly Choice[] }
    | { kind: 'text'; placeholder: string }
  );

const AS_MADE: Choice = { value: 'default', label: 'As DCMTK made it' };
const AUTOMATIC: Choice = { value: 'auto', label: 'Sized by the kernel' };
export const BUFFER_CHOICES: readonly Choice[] = [AUTOMATIC, AS_MADE];
export const SMALLEST_BUFFER = 4096;
export const LARGEST_BUFFER = 1073741823;

export const SOCKET_SETTINGS: readonly Setting[] = [
  {
    section: 'DicomSockets', key: 'TcpNoDelay', kind: 'switch', label: 'Send at once',
    explanation: "TCP_NODELAY: Orthanc's data leaves at once. Otherwise Nagle's algorithm waits for acknowledgements",
    stock: false, tuned: true,
  },
  {
    section: 'DicomSockets', key: 'TcpQuickAck', kind: 'switch', label: 'Acknowledge at once',
    explanation: 'TCP_QUICKACK: acknowledges at once what Orthanc reads, not after up to 40 ms',
    stock: false, tuned: true,
  },
  {
    section: 'DicomSockets', key: 'ReceiveBuffer', kind: 'buffer', label: 'Receive buffer',
    explanation: 'SO_RCVBUF: how much a peer may send ahead; it limits the speed of distant peers',
    stock: 'default', tuned: 'auto',
  },
  {
    section: 'DicomSockets', key: 'SendBuffer', kind: 'buffer', label: 'Send buffer',
    explanation: 'SO_SNDBUF: how much Orthanc may send ahead',
    stock: 'default', tuned: 'auto',
  },
  {
    section: 'DicomSockets', key: 'KeepAliveSeconds', kind: 'number', label: 'Keep-alive',
    explanation: 'After this silence, the kernel checks whether the peer is still there',
    stock: 0, tuned: 60, unit: 's', minimum: 0, maximum: 32767, zero: 'off',
  },
  {
    section: 'DicomSockets', key: 'UserTimeoutSeconds', kind: 'number', label: 'Give up after',
    explanation: 'TCP_USER_TIMEOUT: ends a connection whose peer acknowledges nothing for this time',
    stock: 0, tuned: 0, unit: 's', minimum: 0, maximum: 2147483, zero: "the system's",
  },
  {
    section: 'DicomSockets', key: 'CongestionControl', kind: 'text', label: 'Congestion control',
    explanation: 'TCP_CONGESTION: the algorithm of the kernel, such as bbr or cubic',
    stock: '', tuned: '', placeholder: "the system's",
  },
];

export const TRANSFER_SYNTAXES: readonly { value: string; label: string }[] = [
  { value: '', label: 'Store as received' },
  { value: '1.2.840.10008.1.2.4.70', label: 'JPEG Lossless, SV1' },
  { value: '1.2.840.10008.1.2.4.57', label: 'JPEG Lossless' },
  { value: '1.2.840.10008.1.2.4.80', label: 'JPEG-LS Lossless' },
  { value: '1.2.840.10008.1.2.4.90', label: 'JPEG 2000 Lossless' },
  { value: '1.2.840.10008.1.2.5', label: 'RLE Lossless' },
  { value: '1.2.840.10008.1.2.1', label: 'Explicit VR Little Endian' },
  { value: '1.2.840.10008.1.2', label: 'Implicit VR Little Endian' },
  { value: '1.2.840.10008.1.2.1.99', label: 'Deflated Explicit VR Little Endian' },
  { value: '1.2.840.10008.1.2.4.50', label: 'JPEG Baseline (lossy)' },
  { value: '1.2.840.10008.1.2.4.51', label: 'JPEG Extended (lossy)' },
  { value: '1.2.840.10008.1.2.4.81', label: 'JPEG-LS Near-lossless (lossy)' },
  { value: '1.2.840.10008.1.2.4.91', label: 'JPEG 2000 (lossy)' },
];

const ENGINES: readonly Choice[] = [
  { value: 'auto', label: 'Automatic' },
  { value: 'native', label: 'native' },
  { value: 'dcmtk', label: 'DCMTK' },
  { value: 'gdcm', label: 'GDCM' },
];

export const TRANSCODING_SETTINGS: readonly Setting[] = [
  {
    section: 'IngestTranscoding', key: 'TransferSyntax', kind: 'choice', label: 'Transfer syntax',
    explanation: 'Instances are transcoded to it before they are stored',
    choices: TRANSFER_SYNTAXES,
  },
  {
    section: 'IngestTranscoding', key: 'Engine', kind: 'choice', label: 'Engine',
    explanation: 'Automatic: the fastest that works for this kind of image',
    choices: ENGINES,
  },
  {
    section: 'IngestTranscoding', key: 'Verify', kind: 'switch', label: 'Verify',
    explanation: 'Decode the result and compare the pixels before it replaces the original',
  },
  {
    section: 'IngestTranscoding', key: 'LossyQuality', kind: 'number', label: 'Lossy quality',
    explanation: 'For lossy transfer syntaxes, 1 to 100',
    unit: '', minimum: 1, maximum: 100, zero: '',
  },
  {
    section: 'IngestTranscoding', key: 'OfCompressed', kind: 'switch', label: 'Of compressed',
    explanation: 'Also transcode instances that arrive compressed',
  },
  {
    section: 'IngestTranscoding', key: 'OrthancTranscoding', kind: 'switch', label: "Orthanc's own",
    explanation: "Also lend the engine to Orthanc's own transcoding, to lossless transfer syntaxes",
  },
];

export const SMALLEST_BUDGET = 67108864;
export const LARGEST_BUDGET = 2 ** 50;

export const MEMORY_SETTINGS: readonly Setting[] = [
  {
    section: 'Memory', key: 'IngestBudget', kind: 'budget', label: 'Ingest budget',
    explanation: 'While large images exceed this, further ones wait at their sockets; the oldest goes on, and none is refused. Keep it below half of the memory',
  },
  {
    section: 'Memory', key: 'IngestWaitSeconds', kind: 'number', label: 'Longest wait',
    explanation: "After this time at the head of the queue, an image continues even without room. Keep it below the senders' timeout",
    unit: 's', minimum: 1, maximum: 3600, zero: '',
  },
];

// zlib's
const LEVELS: readonly Choice[] = [
  { value: 'default', label: 'Orthanc’s own' },
  { value: 0, label: '0, not compressed' },
  { value: 1, label: '1, fastest' },
  ...[2, 3, 4, 5, 6, 7, 8].map((level) => ({ value: level, label: String(level) })),
  { value: 9, label: '9, smallest' },
];

export const ANSWER_SETTINGS: readonly Setting[] = [
  {
    section: 'Answers', key: 'ArchiveLevel', kind: 'choice', label: 'Archives', choices: LEVELS,
    explanation: 'Of ZIP archives and media. With any level, images that are compressed already are stored. Orthanc’s own level is 6',
  },
  {
    section: 'Answers', key: 'HttpLevel', kind: 'choice', label: 'Answers over HTTP', choices: LEVELS,
    explanation: 'Of gzip, for clients that accept it. With any level, images that are compressed already are stored. Orthanc’s own level is 6',
  },
  {
    section: 'Answers', key: 'PreviewLevel', kind: 'choice', label: 'Previews', choices: LEVELS,
    explanation: 'Of PNG pictures. Orthanc’s own level is 6',
  },
];

export const STORAGE_SETTINGS: readonly Setting[] = [
  {
    section: 'Storage', key: 'WriteAtOnce', kind: 'switch', label: 'Write at once',
    explanation: 'A DICOM file is written in pieces of 1 MiB, not of 4 KiB',
  },
];

const ALL_SETTINGS = [
  ...SOCKET_SETTINGS, ...TRANSCODING_SETTINGS, ...MEMORY_SETTINGS, ...ANSWER_SETTINGS, ...STORAGE_SETTINGS,
];

export function nameSyntax(uid: string): string {
  return TRANSFER_SYNTAXES.find((choice) => choice.value === uid)?.label ?? uid;
}

export function findValue(tuning: Tuning, setting: Setting): Json {
  const section = tuning[setting.section] as unknown as JsonObject;
  return section[setting.key] ?? null;
}

// A value as it stands beside its setting
export function describeValue(setting: Setting | undefined, value: Json | undefined): string {
  if (value === undefined || value === null) {
    return '–';
  }
  switch (setting?.kind) {
    case 'switch':
      return value === true ? 'on' : 'off';
    case 'number':
      return value === 0 ? setting.zero : `${String(value)} ${setting.unit}`.trim();
    case 'buffer':
      return value === 'auto' ? 'by the kernel' : value === 'default' ? 'DCMTK’s' : `${String(value)} bytes`;
    case 'budget':
      return value === 0 ? 'off' : typeof value === 'number' ? formatSize(value) : `${String(value)} of the memory`;
    case 'choice':
      return setting.choices.find((choice) => choice.value === value)?.label ?? String(value);
    case 'text':
      return value === '' ? setting.placeholder : String(value);
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

// Where the value comes from, as it stands beside its setting; empty: a default, or not known
export function describeSource(setting: Setting, source: TuningSource | undefined): string {
  switch (source?.Source) {
    case 'Configuration':
      return 'configured';
    case 'REST':
      return source.Configured === source.Value
        ? 'set over REST'
        : `set over REST, configured: ${describeValue(setting, source.Configured)}`;
    default:
      return '';
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// One line for a change: "Preset: stock", "Send at once: off"
export function describeChange(change: JsonObject): string {
  const parts: string[] = [];
  for (const [section, keys] of Object.entries(change)) {
    if (!isObject(keys)) {
      parts.push(`${section}: back to the configuration`);
      continue;
    }
    // A preset says it all; that it is none of them ("custom") says nothing
    const isPreset = keys.Preset === 'stock' || keys.Preset === 'tuned';
    for (const [key, value] of Object.entries(keys)) {
      if (isPreset ? key !== 'Preset' : key === 'Preset' && value === 'custom') {
        continue;
      }
      const setting = ALL_SETTINGS.find((one) => one.section === section && one.key === key);
      const shown = value === null ? 'back to the configuration' : describeValue(setting, value);
      parts.push(`${setting?.label ?? key}: ${shown}`);
    }
  }
  return parts.length === 0 ? 'Back to the configuration' : parts.join(', ');
}

// What setting one key sends
export function makePatch(setting: Setting, value: Json): JsonObject {
  return { [setting.section]: { [setting.key]: value } };
}
