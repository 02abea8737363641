import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { AuditTrail } from '../../src/audit/audit-trail.js';
import { lastLookedUp } from '../../src/audit/database.js';
import { listEntries, openTrailForReading } from '../../src/audit/trail-reader.js';
import { verifyTrail } from '../../src/audit/verify.js';
import type { AuditEntry, AuditQuery } from '../../src/contract/audit.js';
import { aDenial, aRun, sha256 } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

const world = new TrailWorld();
let trail: AuditTrail;
let all: AuditEntry[];
const CLIENTS = ['ann', 'ben 1.2', 'ben 2'];
const CODES = ['print(1)', 'print(2)', '1/0'];

beforeAll(async () => {
  trail = await world.open();
  for (let index = 0; index < 120; index += 1) {
    const client = CLIENTS[index % 3]!;
    if (index % 7 === 0) await trail.record(aDenial(client));
    else {
      const code = CODES[index % 3]!;
      const verdict = code === '1/0' ? 'python-error' : 'ok';
      await trail.record(
        aRun({ runId: `r${index}`, client, code, verdict, environment: index % 5 ? 'ml' : 'web' }),
      );
    }
    const last = Date.now();
    if (index % 10 === 0) await until(() => Date.now() > last, 'the clock moves');
  }
  all = trail.list({ limit: 1000 });
});
afterAll(() => world.end());

function matches(entry: AuditEntry, query: AuditQuery): boolean {
  const data = entry.data as {
    codeSha256?: string;
    environment?: string;
    profile?: string;
    verdict?: { kind: string };
  };
  const verdict = entry.kind === 'denial' ? 'denied' : data.verdict?.kind;
  return (
    (query.since === undefined || entry.time >= query.since) &&
    (query.until === undefined || entry.time < query.until) &&
    (query.kind === undefined || entry.kind === query.kind) &&
    (query.verdict === undefined || verdict === query.verdict) &&
    (query.client === undefined || [entry.client, entry.client.split(' ')[0]].includes(query.client)) &&
    (query.sha256 === undefined || data.codeSha256 === query.sha256) &&
    (query.environment === undefined || data.environment === query.environment) &&
    (query.profile === undefined || data.profile === query.profile)
  );
}

describe('a list', () => {
  test('is the newest first, by time and number', () => {
    expect(all).toHaveLength(121);
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 121 }, (_, index) => 121 - index));
  });

  // The lookup follows a little later than the entries, and stays behind where a server is killed.
  test.each([0, 60, 121])(
    'has what a look at every entry finds, on any page, with %i looked up',
    async (last) => {
      await trail.close();
      await world.tamper((database) => {
        expect(lastLookedUp(database)).toBe(121);
        database.prepare('DELETE FROM lookup WHERE seq > ?').run(last);
      });
      const reader = await openTrailForReading(world.folder);
      const times = all.map(({ time }) => time);
      const anyQuery = fc.record(
        {
          since: fc.constantFrom(...times),
          until: fc.constantFrom(...times),
          kind: fc.constantFrom('run' as const, 'denial' as const, 'server' as const, 'install' as const),
          verdict: fc.constantFrom('ok', 'python-error', 'denied', 'timed-out'),
          client: fc.constantFrom(...CLIENTS, 'ben', 'be', 'nobody'),
          sha256: fc.constantFrom(...CODES.map(sha256), sha256('never')),
          environment: fc.constantFrom('ml', 'web', 'none'),
          profile: fc.constantFrom('strict', 'none'),
          before: fc.integer({ min: 1, max: 121 }),
          limit: fc.integer({ min: 1, max: 30 }),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<AuditQuery>;
      fc.assert(
        fc.property(anyQuery, (query) => {
          const from = query.before === undefined ? all : all.filter(({ seq }) => seq < query.before!);
          const expected = from.filter((entry) => matches(entry, query)).slice(0, query.limit ?? 100);
          expect(reader.list(query)).toEqual(expected);
        }),
        { numRuns: 300 },
      );
      for (const entry of all) if (entry.kind === 'run') expect(reader.get(entry.data.runId)).toEqual(entry);
      reader.close();
      expect(await verifyTrail(world.folder)).toMatchObject({ ok: true });
      trail = await world.open();
    },
  );

  const BY_TIME = /^(SEARCH|SCAN) lookup USING (COVERING )?INDEX lookup_time/;
  const by = (...names: string[]) =>
    new RegExp(`^SEARCH lookup USING (COVERING )?INDEX lookup_(${names.join('|')}) \\(`);
  test.each<[AuditQuery, RegExp]>([
    // A scan of an index in its order ends at the limit, and nearly all entries are runs.
    [{}, BY_TIME],
    [{ kind: 'run' }, BY_TIME],
    [{ since: '2020-01-01T00:00:00Z' }, by('time')],
    [{ until: '2020-01-01T00:00:00Z' }, by('time')],
    [{ before: 50 }, by('time')],
    [{ kind: 'configuration' }, by('kind')],
    [{ verdict: 'ok' }, by('verdict')],
    [{ client: 'ann' }, by('client_name')],
    [{ client: 'ann 1' }, by('client')],
    [{ sha256: sha256('print(1)') }, by('sha256')],
    [{ environment: 'ml' }, by('environment')],
    [{ profile: 'strict' }, by('profile')],
    [{ kind: 'run', sha256: sha256('print(1)') }, by('sha256')],
    [{ kind: 'denial', client: 'ann' }, by('kind', 'client_name')],
    [{ client: 'ann', since: '2020-01-01T00:00:00Z', before: 50 }, by('client_name')],
    [
      { client: 'nobody', verdict: 'ok', environment: 'ml', until: '2020-01-01T00:00:00Z' },
      by('client_name'),
    ],
  ])('by %j goes by an index, and neither sorts nor looks at everything', async (query, plan) => {
    await world.tamper((database) => {
      const plans: string[] = [];
      const spying = {
        prepare: (sql: string) => ({
          get: (...values: number[]) => database.prepare(sql).get(...values),
          all: (...values: number[]) => {
            const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as {
              detail: string;
            }[];
            plans.push(...steps.map(({ detail }) => detail));
            return [];
          },
        }),
      };
      listEntries(spying as never, query);
      // What is sorted and looked through is only what the lookup does not have yet.
      expect(plans).toEqual([
        'MERGE (UNION ALL)',
        'LEFT',
        expect.stringMatching(plan),
        'RIGHT',
        'SEARCH entries USING INTEGER PRIMARY KEY (rowid>?)',
        expect.stringMatching(/^SCALAR SUBQUERY/),
        'SEARCH lookup',
        'USE TEMP B-TREE FOR ORDER BY',
      ]);
    });
  });
});

test('one entry is found by its number and by its run', () => {
  expect(trail.get('r5')).toEqual(all.find((entry) => entry.kind === 'run' && entry.data.runId === 'r5'));
  expect(trail.get(7)).toEqual(all.find(({ seq }) => seq === 7));
  expect(trail.get(999)).toBeUndefined();
  expect(trail.get('unknown')).toBeUndefined();
});

test('an export has all that match, as lines', async () => {
  const lines: string[] = [];
  for await (const line of trail.export({ client: 'ann' })) lines.push(line);
  expect(lines.map((line) => JSON.parse(line))).toEqual(all.filter(({ client }) => client === 'ann'));
  const few: string[] = [];
  for await (const line of trail.export({ limit: 3 })) few.push(line);
  expect(few).toHaveLength(3);
  expect(few.every((line) => line.endsWith('}\n'))).toBe(true);
});
