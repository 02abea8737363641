// Writes bench/RESULTS.md, and other pages of that kind.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RESULTS = { file: 'RESULTS.md', title: 'Results', command: 'npm run bench' };

export function writeResults(machine, text, { file, title, command } = RESULTS) {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const head = [`# ${title}`, '', `Written by \`${command}\`; do not edit.`, ''];
  writeFileSync(
    fileURLToPath(new URL(`../${file}`, import.meta.url)),
    [...head, `- Date: ${new Date().toISOString().slice(0, 10)}`, ...facts, '', text, ''].join('\n'),
  );
}
