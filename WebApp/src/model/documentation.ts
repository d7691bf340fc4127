// SPDX-License-Identifier: GPL-3.0-or-later
// Of panels by their heading, and of findings by their identifier; vite.config.ts reads it from the pages.
declare const __DOCUMENTATION__: {
  panels: Readonly<Record<string, string | undefined>>;
  findings: Readonly<Record<string, string | undefined>>;
};

export const { panels: PANELS, findings: FINDINGS } = __DOCUMENTATION__;
