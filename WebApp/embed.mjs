// SPDX-License-Identifier: GPL-3.0-or-later
// embed.mjs FOLDER SOURCE: writes a C++ source that holds the files of FOLDER.
// The page names the others by their place below /perf and by the hash of their content.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
const INDEX = 'index.html';
const BYTES_A_LINE = 32;

const [folder, target] = process.argv.slice(2);
const contents = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));

function getTag(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

// "./app.js" is "perf/app/app.js?v=…", seen from /perf
function addressFiles(page) {
  let text = page.toString('utf8');
  for (const [name, content] of contents) {
    if (name !== INDEX) {
      const before = text;
      text = text.replaceAll(`"./${name}"`, `"perf/app/${name}?v=${getTag(content)}"`);
      if (text === before) {
        throw new Error(`${INDEX} does not load ${name}`);
      }
    }
  }
  return Buffer.from(text);
}

function writeBytes(name, content) {
  const lines = [];
  for (let begin = 0; begin < content.length; begin += BYTES_A_LINE) {
    lines.push([...content.subarray(begin, begin + BYTES_A_LINE)].join(','));
  }
  return `constexpr unsigned char ${name}[] = {\n${lines.join(',\n')}};\n`;
}

function writeView(name) {
  return `std::string_view(reinterpret_cast<const char*>(${name}), sizeof(${name}))`;
}

const arrays = [];
const entries = [];
contents.set(INDEX, addressFiles(contents.get(INDEX)));

for (const [name, content] of contents) {
  const type = TYPES[extname(name)];
  if (type === undefined) {
    throw new Error(`${name} has no known type`);
  }
  const number = entries.length;
  arrays.push(writeBytes(`FILE_${number}`, content));
  entries.push(`{"${name}", "${type}", ${writeView(`FILE_${number}`)}, "${getTag(content)}"}`);
}

const source = `// Made by WebApp/embed.mjs
#include "Rest/Resources.h"

namespace OrthancPerf
{
namespace
{
${arrays.join('\n')}}

std::vector<DashboardFile> GetDashboardFiles()
{
  return {${entries.join(',\n    ')}};
}
}
`;

mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, source);
