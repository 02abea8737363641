import { afterAll, beforeAll, describe, expect, type RunnerTestSuite, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import type { AttackTier, User } from './attack.js';
import { ATTACKS as ALL_ATTACKS } from './attacks.js';
import { judge } from './judge.js';
import { runTable, type TableReport } from './run-table.js';
import { buildStage, IS_ROOT, type Stage } from './stage.js';

/** Two at a time, never two of the same user: the kernel counts some limits by user. */
const BOTH_USERS: [AttackTier, User][][] = [
  [
    ['namespace', 'root'],
    ['landlock', 'user'],
  ],
  [
    ['namespace', 'user'],
    ['landlock', 'root'],
  ],
];
const ATTACKS = ALL_ATTACKS.filter(({ long = false }) => RUNS_ALL || !long);
const me = IS_ROOT ? 'root' : 'user';
const ROUNDS =
  IS_ROOT && RUNS_ALL ? BOTH_USERS : ([[['namespace', me]], [['landlock', me]]] satisfies typeof BOTH_USERS);
/** Where people wait, the landlock tier has the rows that end differently there, and every sixth one of the rest. */
const rowsIn = (tier: AttackTier) =>
  RUNS_ALL || tier === 'namespace'
    ? ATTACKS
    : ATTACKS.filter(({ expectInLandlock }, number) => expectInLandlock !== undefined || number % 6 === 0);
const TABLE_TIMEOUT_MS = 900_000;
const nameOf = (tier: AttackTier, user: User) =>
  `${tier} tier, ${user === 'root' ? 'started as root' : 'started as an ordinary user'}`;
/** A selection of tests by name is one of rows. */
const namesOfWanted = ({ tasks }: Readonly<RunnerTestSuite>, table: string) =>
  tasks
    .flatMap((task) => (task.type === 'suite' && task.name === table ? task.tasks : []))
    .flatMap(({ name, mode }) => (mode === 'skip' ? [] : [name]));

describe.skipIf(process.platform !== 'linux')('attack table', () => {
  let stage: Stage;
  const reports = new Map<string, TableReport>();

  // biome-ignore lint/correctness/noEmptyPattern: Vitest takes no other pattern for fixtures that nobody needs.
  beforeAll(async ({}, suite) => {
    stage = await buildStage();
    for (const round of ROUNDS) {
      const done = round.map(async ([tier, user]) => {
        const wanted = namesOfWanted(suite, nameOf(tier, user));
        const rows = rowsIn(tier).filter(({ name }) => wanted.includes(name));
        reports.set(nameOf(tier, user), await runTable(stage, tier, user, rows));
      });
      await Promise.all(done);
    }
  }, TABLE_TIMEOUT_MS);

  afterAll(() => stage?.remove());

  test('every row has a name of its own', () => {
    expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  });

  for (const [tier, user] of ROUNDS.flat()) {
    describe(nameOf(tier, user), () => {
      const report = () => reports.get(nameOf(tier, user))!;

      test.for(rowsIn(tier).map((attack) => [attack.name, attack] as const))('%s', ([name, attack]) => {
        const result = report().results.get(name);
        if (!result) throw new Error(`The runner ended before this row. ${report().stderr.slice(-2000)}`);
        expect(judge(attack, tier, stage.canary, result)).toEqual([]);
      });

      test('no process and no file is left when the server has closed', () => {
        expect(report()).toMatchObject({ survivors: [], leftFiles: [], stderr: '' });
      });
    });
  }
});
