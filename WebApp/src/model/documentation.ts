// SPDX-License-Identifier: GPL-3.0-or-later
// Of panels by their heading, and of findings by their identifier; vite.config.ts reads it from the pages.
declare const __DOCUMENTATION__: {
  panels: Readonly<Record<string, string | undefined>>;
  findings: Readonly<Record<string, readonly string[] | undefined>>; // paragraphs
};

export const { panels: PANELS } = __DOCUMENTATION__;

// What is sent has the same texts as what is received
export function explainFinding(id: string): readonly string[] | undefined {
  return __DOCUMENTATION__.findings[id.replace(/-sending$/, '')];
}
