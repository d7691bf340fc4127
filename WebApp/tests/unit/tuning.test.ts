// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import { describeChange, findInverse } from '../../src/model/tuning';
import { makeTuning } from './answers';

test('the inverse of a change has every key that it changed, with its old value', () => {
  const before = makeTuning({ TcpNoDelay: true, ReceiveBuffer: 65536 });
  const after = makeTuning({ TcpNoDelay: false, ReceiveBuffer: 'auto', Preset: 'custom' });
  expect(findInverse(before, after)).toEqual({ DicomSockets: { TcpNoDelay: true, ReceiveBuffer: 65536 } });
});

test('what changed nothing has nothing to take back', () => {
  expect(findInverse(makeTuning(), makeTuning({ Preset: 'custom' }))).toEqual({});
});

test('changes are told in the words of the settings', () => {
  expect(describeChange({ DicomSockets: { TcpNoDelay: false, KeepAliveSeconds: 0 } })).toBe(
    'Send at once: off, Keep-alive: off',
  );
  expect(describeChange({ IngestTranscoding: { TransferSyntax: '1.2.840.10008.1.2.4.70' } })).toBe(
    'Transfer syntax: JPEG Lossless, SV1',
  );
  expect(describeChange({ DicomSockets: null })).toContain('back to the configuration');
});

test('a preset stands for all that it sets', () => {
  expect(describeChange({ DicomSockets: { Preset: 'stock', TcpNoDelay: false, TcpQuickAck: false } })).toBe('Preset: stock');
  expect(describeChange({ DicomSockets: { Preset: 'custom', TcpNoDelay: false } })).toBe('Send at once: off');
});
