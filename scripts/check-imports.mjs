// Checks the import directions of the packages with dependency-cruiser. An optional argument names another root folder.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';

const repository = resolve(fileURLToPath(import.meta.url), '../..');
const root = resolve(process.argv[2] ?? repository);
const { forbidden, options } = createRequire(import.meta.url)(resolve(repository, '.dependency-cruiser.cjs'));

const sources = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}/src`)
  .filter((folder) => existsSync(join(root, folder)));
const { output } = await cruise(sources, {
  ...options,
  baseDir: root,
  ruleSet: { forbidden },
  validate: true,
});
const seen = output.modules.filter((module) => module.source.startsWith('packages/'));
const present = sources.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).filter((name) => name.endsWith('.ts')),
);
const edges = seen.reduce((sum, module) => sum + module.dependencies.length, 0);

for (const { from, to, rule } of output.summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
// A parser that fails finds no violations either, so the modules that it read are counted.
if (present.length === 0 || seen.length < present.length || (present.length > 1 && edges === 0)) {
  console.error(`Only ${seen.length} of ${present.length} modules and ${edges} imports were read.`);
  process.exitCode = 1;
} else if (output.summary.violations.length > 0) {
  process.exitCode = 1;
} else {
  console.log(`import directions: ${seen.length} modules, ${edges} imports, no violation`);
}
