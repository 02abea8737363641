import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectOk, sharedPungi, temporaryFolder } from '../engine/pungi.js';

const folder = temporaryFolder();
mkdirSync(join(folder, 'data'));
writeFileSync(join(folder, 'data/a.csv'), 'one');
const file = join(folder, 'profiles.yaml');
writeFileSync(
  file,
  `profiles:
  kept: {cache_ttl: 600, disclosure: true}
  read: {cache_ttl: 600, workspace: [{name: d, path: ./data}]}
  dice: {cache_ttl: 600, deterministic: false}
`,
);
const pungi = sharedPungi({
  PROFILES_FILE: file,
  AUDIT_DIR: join(folder, 'audit'),
  ARTIFACT_DIR: join(folder, 'files'),
});
/** Prints something else at every run. */
const ROLL = 'import uuid\nprint(uuid.uuid4())';

describe('an outcome', () => {
  test('is kept where the profile says so, and says whose it is', async () => {
    const first = await pungi.run({ code: ROLL, profile: 'kept' });
    const second = await pungi.run(
      { code: ROLL, profile: 'kept', capability: 'tea' },
      { caller: { client: 'another' } },
    );
    expectOk(first);
    expect(first).toMatchObject({ cached: null, disclosure: { capability: null } });
    expect(second).toMatchObject({
      stdout: first.stdout,
      cached: { runId: first.runId },
      usage: { cpuMs: 0 },
      disclosure: { capability: 'tea', codeSummary: { imports: ['uuid'] } },
    });
    expect(second.runId).not.toBe(first.runId);
  });

  test('is made anew on demand, and the new one is kept', async () => {
    const first = await pungi.run({ code: ROLL, profile: 'kept' });
    const fresh = await pungi.run({ code: ROLL, profile: 'kept', fresh: true });
    expect(fresh.cached).toBeNull();
    expect(fresh.stdout.text).not.toBe(first.stdout.text);
    expect((await pungi.run({ code: ROLL, profile: 'kept' })).cached?.runId).toBe(fresh.runId);
  });

  test('is not kept if the run takes files of another one along', async () => {
    const leave = (text: string) => pungi.run({ code: `open("a.txt", "w").write("${text}")` });
    const take = async (text: string) =>
      pungi.run({ code: 'open("a.txt").read()', filesOf: (await leave(text)).runId, profile: 'kept' });
    expect((await take('one')).value?.json).toBe('one');
    expect((await take('two')).value?.json).toBe('two');
  });

  test.each([
    ['without a profile', {}],
    ['where it may differ', { profile: 'dice' }],
  ])('is not kept %s', async (_, request) => {
    const texts = await Promise.all([1, 2].map(() => pungi.run({ code: ROLL, ...request })));
    expect(texts[0]!.stdout.text).not.toBe(texts[1]!.stdout.text);
  });

  test('that failed is not kept', async () => {
    const failing = { code: `${ROLL}\n1/0`, profile: 'kept' };
    expect((await pungi.run(failing)).verdict.kind).toBe('python-error');
    expect((await pungi.run(failing)).cached).toBeNull();
  });

  test('of other input, or of data that changed, is another', async () => {
    const request = { code: 'print(context, open("data/d/a.csv").read())', profile: 'read', context: 1 };
    expect((await pungi.run(request)).stdout.text).toBe('1 one\n');
    expect((await pungi.run(request)).cached).not.toBeNull();
    expect((await pungi.run({ ...request, context: 2 })).stdout.text).toBe('2 one\n');
    writeFileSync(join(folder, 'data/a.csv'), 'other');
    expect(await pungi.run(request)).toMatchObject({ stdout: { text: '1 other\n' }, cached: null });
  });

  test('of data behind a link that leads elsewhere now is another', async () => {
    const request = { code: 'print(open("data/d/current").read())', profile: 'read' };
    const link = join(folder, 'data/current');
    for (const name of ['old', 'new']) writeFileSync(join(folder, 'data', name), name);
    symlinkSync('old', link);
    expect((await pungi.run(request)).stdout.text).toBe('old\n');
    expect((await pungi.run(request)).cached).not.toBeNull();
    unlinkSync(link);
    symlinkSync('new', link);
    expect(await pungi.run(request)).toMatchObject({ stdout: { text: 'new\n' }, cached: null });
  });
});
