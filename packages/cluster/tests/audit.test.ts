import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { pungi as command } from '../../cli/tests/pungi.js';
import { AuditTrail } from '../../core/src/audit/audit-trail.js';
import { hashOf } from '../../core/src/audit/chain.js';
import { Database } from '../../core/src/audit/database.js';
import { silentLogger } from '../../core/src/base/logger.js';
import type { Pungi } from '../../core/src/pungi.js';
import { signerOf } from '../src/credentials.js';
import type { ClusterAudit } from '../src/index.js';
import { subjectsOf } from '../src/protocol/subjects.js';
import { SecureCluster } from './secure-cluster.js';

const place = lastingFolder();
const [one, two] = [join(place, 'one'), join(place, 'two')];
let cluster: SecureCluster;
let first: Pungi;
let second: Pungi;

const frontOf = (member: string, auditDir: string, logger = silentLogger) =>
  cluster.front(1, { audit: true, auditDir }, member, logger);
beforeAll(async () => {
  cluster = await SecureCluster.start();
  await cluster.worker('worker-1');
  first = await frontOf('front-1', one);
  second = await frontOf('front-2', two);
  for (const pungi of [first, second, first])
    expect((await pungi.run({ code: '6 * 7' })).value?.json).toBe(42);
  // Its entry does not fit into one message.
  await first.run({ code: '1', stdin: 'ä'.repeat(400_000) });
});
afterAll(() => cluster.stop());

/** As on the machine of an operator, which has no trail. */
const verify = (...more: string[]) =>
  command(['audit', 'verify', '--cluster', cluster.nats.url, '--creds', cluster.creds('operator'), ...more], {
    env: { AUDIT_DIR: join(place, 'none') },
  });

async function audited(...more: string[]): Promise<ClusterAudit & { status: number | null }> {
  const { stdout, status } = await verify('--json', ...more);
  return { ...JSON.parse(stdout), status };
}

const frontIn = ({ frontEnds }: ClusterAudit, name: string) =>
  frontEnds.find(({ frontEnd }) => frontEnd === name)!;
function isBound(audit: ClusterAudit, name: string): boolean {
  const { trails } = frontIn(audit, name);
  return trails.length > 0 && trails.every(({ head, boundThrough }) => head!.seq === boundThrough);
}

async function change(folder: string, ...statements: string[]): Promise<void> {
  const database = await Database.connect(join(folder, 'audit.db'), 'write');
  for (const sql of statements) database.exec(sql);
  database.close();
}

/** Until the newest entries are in checkpoints. */
const settled = (...names: string[]) =>
  until(async () => {
    const audit = await audited();
    return names.every((name) => isBound(audit, name)) ? audit : undefined;
  }, 'checkpoints bind the newest entries');

test('the trails of all front ends are fetched, computed again and found in the checkpoints', async () => {
  const audit = await settled('front-1', 'front-2');
  expect(audit).toMatchObject({
    ok: true,
    status: 0,
    frontEnds: [
      { frontEnd: 'front-1', state: 'ok', problems: [], unchecked: [] },
      { frontEnd: 'front-2', state: 'ok', problems: [], unchecked: [] },
    ],
  });
  expect(frontIn(audit, 'front-1').trails[0]!.head!.seq).toBeGreaterThan(3);
  const { stdout } = await verify();
  expect(stdout).toMatch(
    /ok +front-1 +\d+ checkpoints?\n +entries 1 to \d+, bound by checkpoints up to \d+ \(sent/,
  );
  expect(stdout).toContain('Cluster main: 2 front ends (2 ok, 0 damaged, 0 unchecked)');
});

test('an entry that was changed in the trail of a running front end is named', async () => {
  await change(two, `UPDATE entries SET body = replace(body, '6 * 7', '6 * 8') WHERE body LIKE '%6 * 7%'`);
  const audit = await audited();
  expect(audit).toMatchObject({ ok: false, status: 74 });
  expect(frontIn(audit, 'front-2')).toMatchObject({
    state: 'damaged',
    problems: [expect.stringMatching(/^Entry \d+ was changed: it does not have its hash\.$/)],
  });
  expect(frontIn(audit, 'front-1').state).toBe('ok');
  await change(two, `UPDATE entries SET body = replace(body, '6 * 8', '6 * 7') WHERE body LIKE '%6 * 8%'`);
  expect(await audited()).toMatchObject({ ok: true });
});

test('runs go on while NATS is down, and the next checkpoint covers their entries', async () => {
  const before = frontIn(await audited(), 'front-1').trails[0]!.boundThrough;
  await cluster.nats.kill();
  const outcome = await first.run({ code: '1', limits: { timeoutMs: 300 } });
  expect(outcome.verdict.kind).not.toBe('unrecorded');
  await cluster.nats.start();
  // Its entry gets its number a moment after the answer.
  const bound = async () => frontIn(await audited(), 'front-1').trails[0]?.boundThrough ?? 0;
  await until(async () => (await bound()) > before, 'a checkpoint has the entry');
  expect(await settled('front-1', 'front-2')).toMatchObject({ ok: true });
});

test('pruned entries are no problem', async () => {
  const { status } = await command(['audit', 'prune', '--before', '0s', '--yes'], {
    env: { AUDIT_DIR: one },
  });
  expect(status).toBe(0);
  await first.run({ code: '1' });
  const audit = await settled('front-1');
  expect(audit).toMatchObject({ ok: true });
  expect(frontIn(audit, 'front-1').trails[0]!.removed!.through).toBeGreaterThan(3);
});

test('a front end that does not run is named, and its trail is checked where a copy is at hand', async () => {
  await second.close();
  const audit = await audited();
  expect(audit).toMatchObject({ ok: false, status: 69 });
  expect(frontIn(audit, 'front-2')).toMatchObject({ state: 'unchecked', unchecked: ['It does not run.'] });
  const whole = await audited('--trail', two);
  expect(whole).toMatchObject({ ok: true, status: 0 });
  // The last checkpoint was published when it was closed.
  expect(isBound(whole, 'front-2')).toBe(true);
});

test('a trail of no front end is checked by itself', async () => {
  const folder = join(place, 'foreign');
  const settings = { folder, sync: 'normal' as const, storeCode: true, retentionDays: null };
  await (await AuditTrail.open(settings, silentLogger)).close();
  expect((await audited('--trail', two, folder)).others).toEqual([{ folder, problems: [] }]);
  await change(folder, `UPDATE entries SET body = replace(body, 'genesis', 'genesys')`);
  const audit = await audited('--trail', two, join(folder, 'audit.db'));
  expect(audit).toMatchObject({
    status: 74,
    others: [{ folder, problems: [expect.stringContaining('changed')] }],
  });
});

test('a tail that was cut off is missed, though the trail alone verifies', async () => {
  const copy = join(place, 'copy');
  cpSync(two, copy, { recursive: true });
  await change(
    copy,
    'DELETE FROM entries WHERE seq > 3',
    'DELETE FROM lookup WHERE seq > 3',
    'DELETE FROM checkpoints WHERE seq > 1',
    'UPDATE head SET seq = 3, checkpoint = 1, hash = (SELECT hash FROM entries WHERE seq = 3)',
  );
  expect(await command(['audit', 'verify'], { env: { AUDIT_DIR: copy } })).toMatchObject({ status: 0 });
  const audit = await audited('--trail', copy);
  expect(audit.status).toBe(74);
  expect(frontIn(audit, 'front-2').problems).toEqual([
    expect.stringMatching(/^Entries 4 to \d+ are missing: a checkpoint of the cluster refers to them\.$/),
  ]);
  // An older copy beside the whole one is no problem.
  expect(await audited('--trail', copy, two)).toMatchObject({ ok: true, status: 0 });
});

/** As somebody does who knows how hashes are formed. */
async function rewrite(folder: string, from: number): Promise<void> {
  const database = await Database.connect(join(folder, 'audit.db'), 'write');
  const sql = 'SELECT seq, prev_hash, hash, body FROM entries WHERE seq >= ? ORDER BY seq';
  const rows = database.prepare(sql).all(from) as { seq: number; prev_hash: string; body: string }[];
  let before = rows[0]!.prev_hash;
  for (const { seq, body } of rows) {
    const forged = body.replace('"token":null', '"token":"eve"');
    const hash = hashOf(before, forged);
    const update = 'UPDATE entries SET prev_hash = ?, hash = ?, body = ? WHERE seq = ?';
    database.prepare(update).run(before, hash, forged, seq);
    before = hash;
  }
  database.prepare('UPDATE head SET hash = ?, checkpoint = 1').run(before);
  database.exec('DELETE FROM checkpoints WHERE seq > 1');
  database.close();
}

test('entries that were rewritten with all hashes are found, though the trail alone verifies', async () => {
  const copy = join(place, 'rewritten');
  cpSync(two, copy, { recursive: true });
  await rewrite(copy, 2);
  expect(await command(['audit', 'verify'], { env: { AUDIT_DIR: copy } })).toMatchObject({ status: 0 });
  const audit = await audited('--trail', copy);
  expect(audit.status).toBe(74);
  expect(frontIn(audit, 'front-2').problems).toEqual([
    expect.stringMatching(
      /^Entry \d+ is not the one of the cluster's checkpoint: it, or entries before it, were/,
    ),
  ]);
});

test('a trail that another valid one has replaced is missed', async () => {
  const moved = join(place, 'moved');
  renameSync(two, moved);
  const logged: string[] = [];
  second = await frontOf('front-2', two, { ...silentLogger, error: (message) => logged.push(message) });
  await second.run({ code: '1' });
  const audit = await settled('front-2');
  expect(audit.status).toBe(74);
  expect(frontIn(audit, 'front-2').problems).toEqual([expect.stringContaining('Its trail was replaced')]);
  expect(logged).toEqual(['The audit trail has lost entries, or was replaced: verify it']);
  expect(await audited('--trail', moved)).toMatchObject({ ok: true, status: 0 });
});

test('a checkpoint that is repeated, and a forged one, are reported', async () => {
  const connection = await cluster.connect('front-1');
  const { publicKey } = signerOf(cluster.creds('front-1'));
  const subject = subjectsOf('main').checkpoint(publicKey);
  const manager = await jetstreamManager(connection);
  const newest = await manager.streams.getMessage('pungi-main-checkpoints', { last_by_subj: subject });
  await connection.request(subject, newest!.data);
  const problems = async () => {
    const audit = await audited();
    expect(audit.status).toBe(74);
    return frontIn(audit, 'front-1').problems;
  };
  const repeated = expect.stringMatching(
    /does not follow \d+: one between was removed, or it was repeated\.$/,
  );
  expect(await problems()).toEqual([repeated]);
  // By its own user, with the key of another front end.
  await connection.request(subject, signerOf(cluster.creds('front-2')).sign(subject, Buffer.from('{}')));
  const forged = expect.stringMatching(/was forged: it is not signed by the front end\.$/);
  expect(await problems()).toEqual([repeated, forged]);
});

test('the credentials of a worker read neither checkpoints nor trails', async () => {
  const args = ['audit', 'verify', '--cluster', cluster.nats.url, '--creds', cluster.creds('worker-1')];
  expect((await command(args)).status).toBe(2);
  const fronts = await command([...args.slice(0, -1), cluster.creds('front-1')]);
  expect(fronts.status).toBe(2);
});
