// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them: three digits, a unit that fits, never "NaN".

const NOTHING = '–';
const THIN_SPACE = '\u202f';

function formatDigits(value: number): string {
  if (Number.isInteger(value)) {
    return String(value);
  }
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(digits);
}

// 1234567 is "1 234 567"
export function formatCount(value: number | undefined): string {
  if (value === undefined) {
    return NOTHING;
  }
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

export function formatNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) {
    return NOTHING;
  }
  return value >= 1000 ? formatCount(value) : formatDigits(value);
}

export interface Quantity {
  number: string;
  unit: string;
}

type Units = readonly (readonly [number, string])[];

const TIMES: Units = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
];
const SIZES: Units = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'B'],
];

function scale(value: number | undefined, units: Units, smallest: string): Quantity {
  if (value === undefined || !Number.isFinite(value)) {
    return { number: NOTHING, unit: '' };
  }
  // 0.9996 ms is to be "1.00 ms", not "1000 µs"
  const unit = units.find(([factor]) => Math.abs(value) >= factor * 0.9995) ?? units.at(-1);
  return unit === undefined || value === 0
    ? { number: '0', unit: smallest }
    : { number: formatNumber(value / unit[0]), unit: unit[1] };
}

export function scaleTime(seconds: number | undefined): Quantity {
  return scale(seconds, TIMES, 'ms');
}

export function scaleSize(bytes: number | undefined): Quantity {
  return scale(bytes, SIZES, 'B');
}

export function join({ number, unit }: Quantity): string {
  return unit === '' ? number : `${number} ${unit}`;
}

export function formatTime(seconds: number | undefined): string {
  return join(scaleTime(seconds));
}

export function formatSize(bytes: number | undefined): string {
  return join(scaleSize(bytes));
}

export function formatRate(bytesPerSecond: number | undefined): string {
  const { number, unit } = scaleSize(bytesPerSecond);
  return unit === '' ? number : `${number} ${unit}/s`;
}

export function formatShare(share: number | undefined): string {
  if (share === undefined || !Number.isFinite(share)) {
    return NOTHING;
  }
  const percent = share * 100;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

// Orthanc's "20261121T113510.658676" (UTC) as seconds since 1970; NaN if it is something else
export function parseMoment(moment: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\.\d+)?$/.exec(moment);
  if (parts === null) {
    return Number.NaN;
  }
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number, number, number, number, number, number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 + Number(parts[7] ?? 0);
}

// The reverse, in milliseconds
export function toMoment(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replaceAll(/[-:]/g, '').replace('Z', '000');
}

// "14:05:09", or "14:05:09.217", in the time zone of the reader
export function formatClock(seconds: number, withMilliseconds = false): string {
  if (!Number.isFinite(seconds)) {
    return NOTHING;
  }
  const date = new Date(seconds * 1000);
  const pad = (value: number, length = 2) => value.toString().padStart(length, '0');
  const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return withMilliseconds ? `${clock}.${pad(date.getMilliseconds(), 3)}` : clock;
}

// "28 Nov"
export function formatDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

// The clock, with the day unless it is today; milliseconds tell apart what is of today
export function formatMoment(seconds: number, withMilliseconds = false): string {
  if (!Number.isFinite(seconds)) {
    return NOTHING;
  }
  const isToday = formatDay(seconds) === formatDay(Date.now() / 1000);
  return isToday ? formatClock(seconds, withMilliseconds) : `${formatDay(seconds)} ${formatClock(seconds)}`;
}

// "CamelCaseWords" as "Camel case words", abbreviations untouched: "TcpNoDelay" is "Tcp no delay"
export function spellOut(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/ ([A-Z])(?=[a-z])/g, (match) => match.toLowerCase());
}
