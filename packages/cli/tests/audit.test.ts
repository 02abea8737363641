import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../core/src/audit/database.js';
import { AuditRecorder } from '../../core/src/audit/recorder.js';
import { silentLogger } from '../../core/src/base/logger.js';
import type { AuditEntry, AuditVerification, Replay } from '../../core/src/contract/audit.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import { someFacts } from '../../core/tests/audit/fixtures/outcomes.js';
import { sha256 } from '../../core/tests/audit/fixtures/records.js';
import { pungi, type Setting, start } from './pungi.js';

const place = mkdtempSync(join(tmpdir(), 'test-audit-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const folder = join(place, 'audit');

const settings = (at = folder) => ({ AUDIT: 'true', AUDIT_DIR: at });
const run = async (...args: string[]) => {
  const { stdout } = await pungi(['run', '--json', ...args], { env: settings() });
  return JSON.parse(stdout) as Outcome;
};
const audit = (args: string[], more: Setting & { input?: string } = {}) =>
  pungi(['audit', ...args], { ...more, env: { ...settings(), ...more.env } });
async function json<T>(args: string[]): Promise<T> {
  const { status, stdout, stderr } = await audit([...args, '--json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}
/** What would command a terminal, and must not reach it. */
const COMMANDS = ['\x1b[31m', '\x1b]', '\x07', '\u202E'];
/** A Python that cannot be started: what needs none does not notice. */
const NO_PYTHON = { PUNGI_PYTHON: '/nowhere/python3' };

const recorderOf = (at: string) =>
  new AuditRecorder({ folder: at, sync: 'normal', storeCode: true, retentionDays: null }, silentLogger);

let printed: Outcome;
let failed: Outcome;
let random: Outcome;
beforeAll(async () => {
  printed = await run(
    '--file',
    `t.txt=${import.meta.filename}`,
    '-c',
    'print("hello")\nprint(open("t.txt").read())',
  );
  failed = await run('-c', '\n\n  \n1/0');
  random = await run('-c', 'import random; random.random()');
  const recorder = recorderOf(folder);
  const hostile = 'print("\x1b[31mred\x07")\u202Edesrever';
  const lock = { sha256: sha256('apple==1\n'), text: 'apple==1\n' };
  const outcome = { runId: 'hostile', environment: 'loud\nname' };
  await recorder.run(someFacts({ code: hostile, client: 'eve\x1b]0;owned\x07', lock, outcome }));
  await recorder.close();
});

describe('list', () => {
  test('is a table of entries, the newest first, with the first line of code', async () => {
    const { status, stdout, stderr } = await audit(['list'], { env: NO_PYTHON });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [heading, , ...rows] = stdout.trimEnd().split('\n');
    expect(heading?.split(/ {2,}/)).toEqual([
      'TIME (UTC)',
      'ENTRY',
      'KIND',
      'VERDICT',
      'CLIENT',
      'PROFILE',
      'ENVIRONMENT',
      'WHAT',
    ]);
    expect(rows[0]).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +4 +run +ok .*import random; random.random\(\)$/,
    );
    expect(rows[1]).toMatch(/ run +python-error .* 1\/0$/);
    expect(rows[2]).toMatch(/ run +ok .* print\("hello"\)$/);
    expect(rows[3]).toMatch(/ 1 +server .*genesis$/);
  });

  test.each<[string[], string[]]>([
    [['--verdict', 'python-error'], ['1/0']],
    [['--kind', 'server'], ['genesis']],
    [
      ['--limit', '2'],
      ['hostile', 'random'],
    ],
    [
      ['--since', '1h', '--env', 'default'],
      ['random', '1/0', 'hello'],
    ],
    [['--until', '2020-01-01'], []],
    [['--client', 'nobody'], []],
    [['--profile', 'nothing'], []],
    [['--sha256', sha256('\n\n  \n1/0')], ['1/0']],
  ])('with %j has only what matches', async (flags, expected) => {
    const entries = await json<AuditEntry[]>(['list', ...flags]);
    expect(entries).toHaveLength(expected.length);
    for (const [index, words] of expected.entries()) expect(JSON.stringify(entries[index])).toContain(words);
  });

  test('says that there is more, and that there is nothing', async () => {
    expect((await audit(['list', '--limit', '1'])).stdout).toContain('Showing the newest 1 entry: --limit');
    expect((await audit(['list', '--limit', '5'])).stdout).not.toContain('--limit');
    expect((await audit(['list', '--until', '3650d'])).stdout).toBe('No entry matches.\n');
  });

  test('has room for what it is about on 80 columns', async () => {
    const { stdout } = await audit(['list'], { terminal: true });
    const lines = stdout.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/WHAT/);
    expect(lines.find((line) => / 4 +run /.test(line))).toMatch(/ import random; random\.random\(\)$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('what others wrote commands no terminal and breaks no table', async () => {
    const { stdout } = await audit(['list', '--verdict', 'ok'], { terminal: true });
    for (const command of COMMANDS) expect(stdout).not.toContain(command);
    expect((await audit(['list', '--limit', '1'])).stdout).toMatch(
      / eve␛\]0;owned␇ .* loud name +print\("␛\[31mred␇"\)�desrever\n/,
    );
  });

  test.each([
    [['--since', 'yesterday'], 'must be a time such as'],
    [['--sha256', 'abc'], '64 hexadecimal digits'],
    [['--limit', '0'], 'at least 1'],
    [['--kind', 'walk'], 'run, session, install'],
    [['--verdict', 'denid'], 'timed-out'],
  ])('with %j says what would be right', async (flags, words) => {
    const { status, stderr } = await audit(['list', ...flags]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(words) });
  });
});

describe('show', () => {
  test('tells all of an entry, by its number or its run, with its code and inputs', async () => {
    const byRun = await audit(['show', printed.runId], { env: NO_PYTHON });
    expect(byRun.stdout).toMatch(/^Entry 2: run\n/);
    for (const words of [
      printed.runId,
      printed.codeSha256,
      '30.0 s in all, 30.0 s CPU, 512 MB memory',
      '    print("hello")\n',
      'files: [{',
      'Follows',
    ])
      expect(byRun.stdout).toContain(words);
    expect((await audit(['show', '2'])).stdout).toBe(byRun.stdout);
    expect(await json<AuditEntry>(['show', '2'])).toMatchObject({ seq: 2, data: { runId: printed.runId } });
  });

  test('knows the last run', async () => {
    expect(await json<AuditEntry>(['show', 'last'])).toMatchObject({
      kind: 'run',
      data: { runId: 'hostile' },
    });
  });

  test('commands no terminal', async () => {
    const { stdout } = await audit(['show', 'hostile'], { terminal: true });
    expect(stdout).toContain('print("␛[31mred␇")�desrever');
    for (const command of COMMANDS) expect(stdout).not.toContain(command);
  });

  test('--lock prints the lock file of then', async () => {
    expect((await audit(['show', 'hostile', '--lock'])).stdout).toBe('apple==1\n');
    expect((await audit(['show', '2', '--lock'])).stderr).toContain('names no lock file');
  });

  test.each(['99', 'no-such-run', '99999999999999999999'])('says that there is no %s', async (which) => {
    const { status, stderr } = await audit(['show', which]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(`There is no`) });
  });
});

describe('verify', () => {
  const copyOf = (name: string) => {
    const copy = join(place, name);
    cpSync(folder, copy, { recursive: true });
    return copy;
  };

  test('says ok with the counts and the newest hash, which --expect takes', async () => {
    const { status, stdout } = await audit(['verify'], { env: NO_PYTHON });
    expect(status).toBe(0);
    const [, head] = /newest (5:[0-9a-f]{64})\n$/.exec(stdout) ?? [];
    expect(stdout).toMatch(/^ok {2}5 entries, \d+ signed checkpoints in /);
    expect(await audit(['verify', '--expect', head!])).toMatchObject({ status: 0 });
    const wrong = await audit(['verify', '--expect', `5:${'0'.repeat(64)}`]);
    expect(wrong).toMatchObject({ status: 74, stdout: expect.stringContaining('the trail was rewritten') });
    const later = await audit(['verify', '--expect', head!.replace('5:', '50:')]);
    expect(later).toMatchObject({ status: 74, stdout: expect.stringContaining('is missing') });
  });

  test('names each entry that was tampered with, and ends with 74', async () => {
    const copy = copyOf('tampered');
    const database = await Database.connect(join(copy, 'audit.db'), 'write');
    database.exec(`UPDATE entries SET body = replace(body, 'hello', 'hallo') WHERE seq = 2`);
    database.exec('DELETE FROM entries WHERE seq = 3');
    database.close();
    const shown = await audit(['show', '2', '--audit-dir', copy]);
    expect(shown.status).toBe(74);
    expect(shown.stdout).toMatch(/\n✗ Entry 2 was changed: it does not have its hash\.\n$/);
    const asJson = await audit(['show', '2', '--json', '--audit-dir', copy]);
    expect(asJson.status).toBe(74);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ seq: 2, problem: expect.stringContaining('changed') });
    rmSync(join(copy, 'locks', `${sha256('apple==1\n')}.lock`));
    const { status, stdout } = await audit(['verify', '--audit-dir', copy]);
    expect(status).toBe(74);
    expect(stdout).toMatch(/✗ Entry 2 was changed/);
    expect(stdout).toMatch(/✗ Entry 3 is missing/);
    expect(stdout).toMatch(/✗ Entry 5: Its lock file .* is missing/);
    expect(stdout).toMatch(/\n3 problems in /);
    const told = await audit(['verify', '--audit-dir', copy, '--json']);
    const { ok, problems } = JSON.parse(told.stdout) as AuditVerification;
    expect([told.status, ok, problems.map(({ seq }) => seq)]).toEqual([74, false, [2, 3, 5]]);
  });

  test('a file that is not a database is damaged', async () => {
    const copy = copyOf('destroyed');
    writeFileSync(join(copy, 'audit.db'), 'garbage\n');
    const { status, stderr } = await audit(['verify', '--audit-dir', copy]);
    expect({ status, stderr }).toEqual({
      status: 74,
      stderr: expect.stringContaining('it is not a database'),
    });
  });

  test('a trail without its key cannot be checked', async () => {
    const copy = copyOf('keyless');
    rmSync(join(copy, 'audit.pub'));
    const { status, stderr } = await audit(['verify', '--audit-dir', copy]);
    expect({ status, stderr }).toEqual({ status: 74, stderr: expect.stringContaining('public key') });
  });
});

describe('export', () => {
  test('writes lines of JSON, and nothing else', async () => {
    const { status, stdout, stderr } = await audit(['export'], { env: NO_PYTHON });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const entries = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEntry);
    expect(entries.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
    expect((await audit(['export', '--json'])).stdout).toBe(stdout);
    expect((await audit(['export', '--verdict', 'python-error'])).stdout.split('\n')).toHaveLength(2);
  });

  test('writes to a file, and replaces none unless told to', async () => {
    const file = join(place, 'out.jsonl');
    expect((await audit(['export', '-o', file])).stdout).toBe(`Wrote 5 entries to ${file}.\n`);
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(5);
    expect(await audit(['export', '-o', file])).toMatchObject({ status: 2 });
    const forced = await audit(['export', '-o', file, '--force', '--limit', '1', '--json']);
    expect(JSON.parse(forced.stdout)).toEqual({ file, entries: 1 });
    expect(readdirSync(place).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('ends well where its reader has enough', async () => {
    const { child, ended } = start(['audit', 'export'], { env: settings() });
    child.stdout.destroy();
    expect(await ended).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('replay', () => {
  test('runs an entry again, with its inputs, and says that the output is the same', async () => {
    const { status, stdout } = await audit(['replay', printed.runId]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'same  Entry 2 gave the same output.\n' });
    const [newest] = await json<AuditEntry[]>(['list', '--limit', '1']);
    expect(newest!.data).toMatchObject({ replayOf: printed.runId, codeSha256: printed.codeSha256 });
  });

  test('is recorded as asked for by whoever asks now', async () => {
    const at = join(place, 'replayed');
    const recorder = recorderOf(at);
    const facts = someFacts({ client: 'ann' });
    await recorder.run(facts);
    await recorder.close();
    const { runId } = facts.outcome;
    const { stdout } = await audit(['replay', runId, '--audit-dir', at]);
    expect(stdout).toContain('same  Entry 2');
    const listed = await audit(['list', '--limit', '1', '--json', '--audit-dir', at]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ client: 'cli', data: { replayOf: runId } }]);
  });

  test('of what fails is the same where it fails in the same way', async () => {
    const replay = await json<Replay>(['replay', failed.runId]);
    expect(replay).toMatchObject({ seq: 3, same: true, differences: [] });
    expect(replay.outcome.runId).not.toBe(failed.runId);
  });

  test('says what differs, and ends with 1', async () => {
    const { status, stdout } = await audit(['replay', random.runId]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ It ended in the same way, but its output or its value differs\.\n/);
    expect(stdout).toMatch(/Its output now:\n {4}0\.\d+\n$/);
  });

  test('of what was no run, or of which only a hash is left, says so', async () => {
    const genesis = await audit(['replay', '1']);
    expect(genesis).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('expected a run, got an entry of the kind'),
    });
    const bare = { ...settings(join(place, 'bare')), AUDIT_STORE_CODE: 'false' };
    await pungi(['run', '-c', 'print(1)'], { env: bare });
    const hash = await pungi(['audit', 'replay', '2'], { env: bare });
    expect(hash).toMatchObject({ status: 2, stderr: expect.stringContaining('AUDIT_STORE_CODE') });
  });
});

describe('prune', () => {
  const at = join(place, 'pruned');
  const prune = (args: string[], more: Setting & { input?: string } = {}) =>
    pungi(['audit', 'prune', ...args], { ...more, env: { ...settings(at), ...NO_PYTHON } });
  beforeAll(() => cpSync(folder, at, { recursive: true }));

  test('asks first', async () => {
    const piped = await prune(['--before', '0s']);
    expect(piped).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    const { child, ended, shows } = start(['audit', 'prune', '--before', '0s'], {
      env: settings(at),
      terminal: true,
    });
    await shows('stdout', /Remove \d+ entries from before .* UTC\? This cannot be undone\. \[y\/N\]/);
    child.stdin.write('n\n');
    expect((await ended).stdout).toContain('Nothing was removed.');
    expect((await prune(['--before', '2020-01-01'])).stdout).toMatch(/^There is no entry from before/);
  });

  test('removes, and what is left verifies', async () => {
    const { status, stdout } = await prune(['--before', '0s', '--yes']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^Removed \d+ entries\.\n$/),
    });
    expect(await audit(['verify', '--audit-dir', at])).toMatchObject({ status: 0 });
    const listed = await audit(['list', '--json', '--audit-dir', at]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ client: 'cli', data: { event: 'pruned' } }]);
  });

  test('needs to be told how much', async () => {
    expect(await prune(['--yes'])).toMatchObject({ status: 2, stderr: expect.stringContaining('--before') });
  });
});

describe('where there is no trail', () => {
  const none = join(place, 'none');
  test.each([['list'], ['show', '1'], ['verify'], ['export'], ['prune', '--before', '1d'], ['replay', '1']])(
    '%s %s says so and makes none',
    async (...args) => {
      const { status, stderr } = await audit([...args.filter(Boolean), '--audit-dir', none]);
      expect({ status, stderr }).toEqual({
        status: 69,
        stderr: `pungi: There is no audit trail in ${none}.\n`,
      });
      expect(existsSync(none)).toBe(false);
    },
  );

  test('a folder that cannot be used refuses runs, and says what to do', async () => {
    const file = join(place, 'file');
    writeFileSync(file, '');
    const { status, stdout, stderr } = await pungi(['run', '-c', 'print(1)'], { env: settings(file) });
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toContain(file);
    expect(stderr).toContain('AUDIT=false');
  });
});

describe('a trail that was rotated', () => {
  const rotated = join(place, 'rotated');
  const of = (args: string[]) => audit(args, { env: { ...settings(rotated), ...NO_PYTHON } });
  beforeAll(async () => {
    const recorder = new AuditRecorder(
      { folder: rotated, sync: 'normal', storeCode: true, retentionDays: null, maxBytes: 2 * 1024 * 1024 },
      silentLogger,
    );
    await recorder.ready();
    for (let index = 0; index < 120; index += 1)
      await recorder.run(
        someFacts({ code: `${index}\n${'#'.repeat(40_000)}`, outcome: { runId: `run-${index}` } }),
      );
    await recorder.close();
  });

  test('verifies, and says up to where entries were removed', async () => {
    const { status, stdout } = await of(['verify']);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^ok .*\n {4}entries 1 to \d+ were removed \(signed [\d: -]+ UTC\); .*\n {4}newest/,
    );
    const { removed } = JSON.parse((await of(['verify', '--json'])).stdout) as AuditVerification;
    expect(removed!.through).toBeGreaterThan(10);
    const expected = await of(['verify', '--expect', `1:${'0'.repeat(64)}`]);
    expect(expected.status).toBe(74);
    expect(expected.stdout).toContain('was pruned, with all up to');
  });

  test('is listed, shown and exported from its first entry on, and says so of what is gone', async () => {
    expect((await of(['list', '--limit', '5'])).status).toBe(0);
    expect((await of(['show', 'run-119'])).stdout).toContain('run-119');
    const gone = await of(['show', '2']);
    expect(gone.status).toBe(2);
    expect(gone.stderr).toMatch(/no entry 2 .*: older entries were removed, and it now begins with \d+\.$/m);
    expect((await of(['replay', '2'])).stderr).toContain('older entries were removed');
    const lines = (await of(['export'])).stdout.trim().split('\n');
    expect(lines.length).toBeLessThan(60);
  });

  test('takes less of the disk once it is pruned', async () => {
    const before = readFileSync(join(rotated, 'audit.db')).length;
    expect((await of(['prune', '--before', '0s', '--yes'])).status).toBe(0);
    expect(readFileSync(join(rotated, 'audit.db')).length).toBeLessThan(before / 4);
    expect((await of(['verify'])).status).toBe(0);
  });
});
