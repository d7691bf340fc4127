// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import {
  formatCount, formatMoment, formatNumber, formatRate, formatShare, formatSize, formatTime, parseMoment, spellOut, toMoment,
} from '../../src/model/format';

test('times have three digits and the unit that fits', () => {
  expect(formatTime(0.003388852)).toBe('3.39 ms');
  expect(formatTime(0.0009996)).toBe('1.00 ms');
  expect(formatTime(0.0000839)).toBe('83.9 µs');
  expect(formatTime(12.34)).toBe('12.3 s');
  expect(formatTime(0)).toBe('0 ms');
});

test('what is not there is a dash', () => {
  expect([formatTime(undefined), formatNumber(Number.NaN), formatShare(undefined), formatMoment(Number.NaN)]).toEqual(
    ['–', '–', '–', '–'],
  );
});

test('sizes and rates are decimal, as disks and networks count', () => {
  expect(formatSize(525366)).toBe('525 kB');
  expect(formatRate(17_000_000)).toBe('17 MB/s');
});

test('large counts are grouped by thousands', () => {
  expect(formatCount(1234567)).toBe('1\u202f234\u202f567');
});

test('small shares keep a digit', () => {
  expect(formatShare(0.0123)).toBe('1.2 %');
  expect(formatShare(0.44)).toBe('44 %');
});

test("Orthanc's moments are read as UTC, and anything else is no moment", () => {
  expect(parseMoment('19700101T000102.500000')).toBe(62.5);
  expect(parseMoment('<b>')).toBeNaN();
  expect(toMoment(62.5)).toBe('19700101T000102.500000');
});

test('keys become words', () => {
  expect(spellOut('MeanRoundTrip')).toBe('Mean round trip');
});
