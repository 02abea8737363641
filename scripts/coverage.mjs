// Line coverage of src: vitest's own processes, together with the command lines that tests start. V8 writes the
// latter to a folder when a process ends; see packages/cli/tests/pungi.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { mergeProcessCovs } from '@bcoe/v8-coverage';
import { parse } from 'acorn';
import { convert } from 'ast-v8-to-istanbul';
import istanbul from 'istanbul-lib-coverage';
import { at } from './repository.mjs';

/** Prints one row per file, with the lines that no test reached, and the sum. */
export async function printCoverage(childProfiles) {
  const lines = new Map();
  const vitestReport = at('coverage/coverage-final.json');
  if (existsSync(vitestReport)) addLines(lines, JSON.parse(readFileSync(vitestReport, 'utf8')));
  for (const script of childScripts(childProfiles)) addLines(lines, await istanbulOf(script));

  console.log('\nCoverage by lines, spawned command lines included');
  const total = { all: 0, hit: 0 };
  for (const [file, hits] of [...lines].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const missed = [...hits].filter(([, count]) => count === 0).map(([line]) => line);
    total.all += hits.size;
    total.hit += hits.size - missed.length;
    console.log(`  ${file.padEnd(42)} ${percent(hits.size - missed.length, hits.size)}  ${ranges(missed)}`);
  }
  console.log(`  ${'all'.padEnd(42)} ${percent(total.hit, total.all)}  of ${total.all} lines`);
}

/** A line counts as reached if either report says so: they see the same source through different compilers. */
function addLines(lines, report) {
  const map = istanbul.createCoverageMap(report);
  for (const path of map.files()) {
    const file = relative(at(), path);
    if (!/^packages\/\w+\/src\//.test(file)) continue; // packages in the bundle
    const known = lines.get(file);
    const hits = known ?? new Map();
    for (const [line, count] of Object.entries(map.fileCoverageFor(path).getLineCoverage())) {
      if (known === undefined || hits.has(Number(line)))
        hits.set(Number(line), (hits.get(Number(line)) ?? 0) + count);
    }
    lines.set(file, hits);
  }
}

function childScripts(folder) {
  const profiles = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const ours = pathToFileURL(at('dist/')).href;
  const kept = profiles.map(({ result }) => ({ result: result.filter(({ url }) => url.startsWith(ours)) }));
  return mergeProcessCovs(kept).result.filter(({ url }) => existsSync(fileURLToPath(url)));
}

async function istanbulOf(coverage) {
  const file = fileURLToPath(coverage.url);
  const code = readFileSync(file, 'utf8');
  const ast = parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true });
  const sourceMap = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  sourceMap.sources = sourceMap.sources.map((source) => join(dirname(file), source));
  return convert({ ast, code, coverage, sourceMap, wrapperLength: 0 });
}

const percent = (hit, all) => `${(all === 0 ? 100 : (100 * hit) / all).toFixed(1).padStart(5)} %`;

/** Formats line numbers as 3, 5–9, 12. */
function ranges(numbers) {
  const found = [];
  for (const number of numbers.sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(', ');
}
