// Writes bench/RESULTS.md.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url));

export function writeResults(machine, text) {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const head = ['# Results', '', 'Written by `npm run bench`; do not edit.', ''];
  writeFileSync(
    RESULTS,
    [...head, `- Date: ${new Date().toISOString().slice(0, 10)}`, ...facts, '', text, ''].join('\n'),
  );
}
