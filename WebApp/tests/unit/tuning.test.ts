// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import { describeChange, describeSource, SOCKET_SETTINGS } from '../../src/model/tuning';

test('changes are told in the words of the settings', () => {
  expect(describeChange({ DicomSockets: { TcpNoDelay: false, KeepAliveSeconds: 0 } })).toBe(
    'Send at once: off, Keep-alive: off',
  );
  expect(describeChange({ IngestTranscoding: { TransferSyntax: '1.2.840.10008.1.2.4.70' } })).toBe(
    'Transfer syntax: JPEG Lossless, SV1',
  );
  expect(describeChange({ DicomSockets: null })).toContain('back to the configuration');
});

test('a budget is off, a share, or a size', () => {
  const describe = (budget: number | string) => describeChange({ Memory: { IngestBudget: budget } });
  expect(describe(0)).toBe('Ingest budget: off');
  expect(describe('25%')).toBe('Ingest budget: 25% of the memory');
  expect(describe(805306368)).toBe('Ingest budget: 805 MB');
});

test('a preset stands for all that it sets', () => {
  expect(describeChange({ DicomSockets: { Preset: 'stock', TcpNoDelay: false, TcpQuickAck: false } })).toBe('Preset: stock');
  expect(describeChange({ DicomSockets: { Preset: 'custom', TcpNoDelay: false } })).toBe('Send at once: off');
});

test('a value that is not a default says where it comes from', () => {
  const [setting] = SOCKET_SETTINGS;
  expect(setting).toBeDefined();
  if (setting !== undefined) {
    const changed = { Value: false, Source: 'REST', Configured: true } as const;
    expect(describeSource(setting, changed)).toBe('set over REST, configured: on');
    expect(describeSource(setting, { ...changed, Configured: false })).toBe('set over REST');
    expect(describeSource(setting, { Value: true, Source: 'Configuration' })).toBe('configured');
    expect(describeSource(setting, { Value: true, Source: 'Default' })).toBe('');
    expect(describeSource(setting, undefined)).toBe('');
  }
});
