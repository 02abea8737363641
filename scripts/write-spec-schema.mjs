// Writes the JSON Schema of test specifications. Run it after a change of the format in
// packages/core/src/contract/spec.ts.
import { writeFileSync } from 'node:fs';
import { at } from './repository.mjs';
import { runTool } from './run.mjs';

await import('./setup.mjs');
const { publishedSchema } = await import('../dist/harness/src/spec/schema.js');
const file = at('docs/spec.schema.json');
writeFileSync(file, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
process.exitCode = await runTool('@biomejs/biome/bin/biome', ['format', '--write', file]);
