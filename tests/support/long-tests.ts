/**
 * Tests that `npm test` leaves to `npm run test:all` and CI: documented commands, real package indexes, servers and programs,
 * other users, kills at random points, and whatever takes half a minute. Naming a file runs it all the same: `npm test -- tests/docs`.
 */
export const RUNS_ALL = Boolean(process.env['PUNGI_TEST_ALL']);

export const LONG = [
  'packages/cli/tests/env-interrupt',
  'packages/cli/tests/env-refusals',
  'packages/cli/tests/env-terminal',
  'packages/cli/tests/test-record-http',
  'packages/cli/tests/usage',
  'packages/core/tests/audit/kill',
  'packages/core/tests/audit/processes',
  'packages/core/tests/environments/events',
  'packages/core/tests/environments/font-list',
  'packages/core/tests/environments/hostile',
  'packages/core/tests/environments/leases',
  'packages/core/tests/environments/odd-folders',
  'packages/core/tests/environments/package-index',
  'packages/core/tests/environments/packaging-agrees',
  'packages/core/tests/environments/packaging/packagers',
  'packages/core/tests/environments/real-index',
  'packages/core/tests/environments/regressions',
  'packages/core/tests/environments/sharing',
  'packages/core/tests/environments/torture',
  'packages/core/tests/environments/true-answers',
  'packages/core/tests/network/real-index',
  'packages/core/tests/profiles/no-index',
  'packages/core/tests/profiles/real-data',
  'packages/core/tests/pungi/lifetime',
  'packages/core/tests/security/environment-attacks',
  'packages/core/tests/security/stalled-server',
  'packages/core/tests/system-calls/packages',
  'packages/harness/tests/real-servers',
  'packages/server/tests/hostile',
  'packages/server/tests/large-replies',
  'packages/server/tests/strategic-analyses',
  'packages/server/tests/wrapped-changes',
  'tests/docs/commands',
  'tests/examples/wrap',
  'tests/repository/import-rules',
  'tests/judges/*',
  'tests/repository/setup',
];

export const LEFT_OUT = RUNS_ALL ? [] : LONG.map((name) => `${name}.test.ts`);
