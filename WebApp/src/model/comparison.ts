// SPDX-License-Identifier: GPL-3.0-or-later
// The result of a comparison, target by target.
import type { EngineResult, EngineStatus, SyntaxState } from './answers';

export interface TargetGroup {
  target: string;
  results: EngineResult[];
  best: EngineResult | undefined; // the fastest that has transcoded anything
  getSpeed: (result: EngineResult) => number; // as a share of the best
}

function getRate(result: EngineResult): number {
  return result.EncodeBytesPerSecond ?? 0;
}

export function groupByTarget(results: readonly EngineResult[]): TargetGroup[] {
  const targets = [...new Set(results.map((result) => result.TransferSyntax))];
  return targets.map((target) => {
    const own = results
      .filter((result) => result.TransferSyntax === target)
      .sort((a, b) => getRate(b) - getRate(a));
    const best = own.find((result) => getRate(result) > 0);
    return {
      target,
      results: own,
      best,
      getSpeed: (result) => (best === undefined ? 0 : getRate(result) / getRate(best)),
    };
  });
}

export interface Ability {
  state: SyntaxState | 'Absent';
  reason: string;
}

export interface SyntaxRow {
  uid: string;
  abilities: Ability[]; // in the order of the engines
}

// Which engine writes which transfer syntax; those that none writes are left out
export function listAbilities(engines: readonly EngineStatus[]): SyntaxRow[] {
  const uids = [...new Set(engines.flatMap((engine) => engine.Syntaxes.map((one) => one.TransferSyntax)))];
  return uids
    .map((uid) => ({
      uid,
      abilities: engines.map((engine): Ability => {
        const found = engine.Syntaxes.find((one) => one.TransferSyntax === uid);
        return engine.Available && found !== undefined
          ? { state: found.State, reason: found.Reason ?? '' }
          : { state: 'Absent', reason: engine.Reason ?? '' };
      }),
    }))
    .filter((row) => row.abilities.some(({ state }) => state === 'Works' || state === 'SwitchedOff'));
}
