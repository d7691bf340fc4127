// SPDX-License-Identifier: GPL-3.0-or-later
// Three files with fixed names, which the plugin embeds; their versions are in the query strings
// that embed.mjs writes.
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';

// Vitest's workers ask for their memory after each file; where that throws, it waits for them forever
if (process.env.VITEST && process.platform === 'linux' && !existsSync('/proc/self/stat')) {
  throw new Error('The tests need /proc: mount it (in a chroot: mount -t proc proc /proc)');
}

interface Texts {
  Documentation: { Meaning: string; Evidence?: string };
}

// No address on the Web holds the documentation of an installed plugin. What the page unfolds of it is what its pages
// are made of: the table of panels in guide.md, and the texts of findings.
function readDocumentation() {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const toPlain = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  const rows = read('Resources/Documentation/guide.md').matchAll(/^\| \*\*(.+)\*\* \| (.+) \|$/gm);
  const findings = JSON.parse(read('Plugin/Advisor/Findings.json')) as Record<string, Texts & { Variants?: Record<string, Partial<Texts>> }>;
  const explain = ({ Documentation: { Meaning, Evidence }, Variants = {} }: (typeof findings)[string]) => {
    const ofVariants = Object.entries(Variants).flatMap(([name, { Documentation: text }]) =>
      text === undefined ? [] : `${name}: ${text.Meaning}. Evidence: ${text.Evidence ?? '–'}`);
    return [Meaning, ...ofVariants, Evidence ?? []].flat().map((text) => toPlain(text.endsWith(':') ? text : `${text}.`));
  };
  return {
    panels: Object.fromEntries([...rows].map(([, heading, text]) => [heading, toPlain(text ?? '')])),
    findings: Object.fromEntries(Object.entries(findings).map(([id, finding]) => [id, explain(finding)])),
  };
}

export default defineConfig({
  plugins: [vue()],
  base: './',
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __DOCUMENTATION__: JSON.stringify(readDocumentation()),
  },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    // An image inside the style sheet would need another directive of the security policy
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        inlineDynamicImports: true,
        entryFileNames: 'app.js',
        assetFileNames: 'app.[ext]',
      },
    },
  },
  test: {
    // The tests in a browser share one server and one clock
    fileParallelism: false,
    // Milliseconds, for a machine that is busy with much else; no time is the point of a test
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 90_000, interval: 100 } },
  },
});
