// The checks before the tests: format and lint, types, import directions. All of them run, so that one run reports
// all problems.
await import('./setup.mjs');
const { run, runTool } = await import('./run.mjs');

const results = {
  'format and lint': await runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
  types: await runTool('typescript/bin/tsc', ['-p', 'tsconfig.check.json']),
  'import directions': await run(process.execPath, ['scripts/check-imports.mjs']),
};
const failed = Object.keys(results).filter((name) => results[name] !== 0);
if (failed.length > 0) {
  console.error(`check: ${failed.join(', ')} failed`);
  process.exitCode = 1;
} else {
  console.log('check: format, lint, types and import directions hold');
  process.exitCode = 0;
}
