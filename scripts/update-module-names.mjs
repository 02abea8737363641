// Rewrites packages/core/src/engine/module-names-data.ts: the distribution of each module, from the mapping in the
// wheel of pipreqs (Apache-2.0) and manual corrections. Needs a network; run it when a newer pipreqs is out.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORRECTIONS, LEFT_OUT, OTHER_STANDARD_LIBRARY, SAME_NAME } from './module-names-by-hand.mjs';
import { at, scratch } from './repository.mjs';
import { runTool } from './run.mjs';

const PIPREQS = '0.5.0';
const TARGET = 'packages/core/src/engine/module-names-data.ts';

const folder = scratch('module-names');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
python('-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, `pipreqs==${PIPREQS}`);
python('-m', 'zipfile', '-e', join(folder, `pipreqs-${PIPREQS}-py3-none-any.whl`), folder);

const standardLibrary = readStandardLibrary();
const distributions = { ...readMapping(standardLibrary), ...CORRECTIONS };
const sameName = SAME_NAME.filter((module) => !(module in distributions));
writeFileSync(at(TARGET), render(distributions, sameName, standardLibrary));
rmSync(folder, { recursive: true, force: true });
process.exitCode = await runTool('@biomejs/biome/bin/biome', ['format', '--write', TARGET]);

function readMapping(standardLibrary) {
  const byModule = new Map();
  for (const line of lines('mapping')) {
    const [module, distribution] = line.split(':');
    byModule.set(module, [...(byModule.get(module) ?? []), normalise(distribution)]);
  }
  const left = new Set([...standardLibrary, ...LEFT_OUT, ...SAME_NAME]);
  const found = {};
  for (const [module, [distribution, another]] of byModule) {
    const isMapped = another === undefined && distribution !== normalise(module);
    // For distributions from 0 to b, pipreqs lists whatever a crawl found: `example` would belong to adrest, `kazoo`
    // to a fork.
    const isCrawled = /^[0-9ab]/.test(distribution);
    if (isMapped && !isCrawled && !left.has(module) && /^[A-Za-z]\w*$/.test(module)) {
      found[module] = distribution;
    }
  }
  return found;
}

/**
 * Collects the modules of old versions, which pipreqs knows, of the current one, and of others. Names that begin with
 * "_" are private anyway.
 */
function readStandardLibrary() {
  const present = python('-c', 'import sys; print(*sys.stdlib_module_names)').trim().split(' ');
  return [...new Set([...lines('stdlib'), ...present, ...OTHER_STANDARD_LIBRARY])].filter((module) =>
    /^[A-Za-z]\w*$/.test(module),
  );
}

function lines(name) {
  return readFileSync(join(folder, 'pipreqs', name), 'utf8')
    .trim()
    .split('\n');
}

function render(distributions, sameName, standardLibrary) {
  const sorted = Object.fromEntries(Object.entries(distributions).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `// Written by scripts/update-module-names.mjs. Contains data of pipreqs ${PIPREQS} (Apache-2.0), changed.

/** Modules whose distribution has another name, and that distribution. */
export const DISTRIBUTIONS: Readonly<Record<string, string>> = ${JSON.stringify(sorted)};

/** Well-known modules whose distribution has their name. */
export const SAME_NAME: readonly string[] = ${list(sameName)};

/** Of any version and system. */
export const STANDARD_LIBRARY: readonly string[] = ${list(standardLibrary)};
`;
}

function list(names) {
  return `\`\n${wrap([...names].sort())}\`\n  .trim()\n  .split(/\\s+/)`;
}

function wrap(names) {
  const rows = [''];
  for (const name of names) {
    if (rows.at(-1).length + name.length > 105) rows.push('');
    rows[rows.length - 1] += `${rows.at(-1) === '' ? '  ' : ' '}${name}`;
  }
  return rows.join('\n');
}

function normalise(name) {
  return name.replace(/[-_.]+/g, '-').toLowerCase();
}

function python(...args) {
  const { status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`python3 ${args.join(' ')}: ${stderr}`);
  return stdout;
}
