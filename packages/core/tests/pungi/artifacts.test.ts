import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ArtifactContent } from '../../../pungi/src/index.js';
import {
  expectOk,
  publicInterpreter,
  sharedPungi,
  temporaryFolder,
  verdictOf,
  withPungi,
} from '../engine/pungi.js';

const python = await publicInterpreter();
const ARTIFACT_DIR = temporaryFolder();
const pungis = {
  namespace: sharedPungi({ PUNGI_TIER: 'namespace', ARTIFACT_DIR }),
  landlock: sharedPungi({
    PUNGI_TIER: 'landlock',
    ARTIFACT_DIR,
    ...(python === '' ? {} : { PUNGI_PYTHON: python }),
  }),
};
const ANN = { caller: { client: 'ann' } };
const BEN = { caller: { client: 'ben' } };

describe.each(['namespace', 'landlock'] as const)('in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('files that a run makes or changes are in its outcome, and can be read', async () => {
    const files = [
      { path: 'in.txt', text: 'same' },
      { path: 'changed.txt', text: 'before' },
    ];
    const code = `import os
os.makedirs("results")
open("results/out.csv", "w").write("a,b\\n1,2\\n")
open("changed.txt", "a").write(" and after")
import tempfile
open(os.path.join(tempfile.gettempdir(), "elsewhere"), "w").write("x")
os.symlink("/etc/passwd", "link")`;
    const outcome = await pungi.run({ code, files }, ANN);
    expectOk(outcome);
    expect(outcome.artifacts).toMatchObject([
      { path: 'changed.txt', size: 16, mimeType: 'text/plain' },
      {
        path: 'results/out.csv',
        size: 8,
        mimeType: 'text/csv',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const read = (path: string, more = {}) =>
      pungi.readArtifact({ run: outcome.runId, path, ...more }, ANN.caller);
    expect((await read('results/out.csv')).content.toString()).toBe('a,b\n1,2\n');
    expect((await read('changed.txt', { offset: 7, most: 3 })).content.toString()).toBe('and');
    await expect(read('link')).rejects.toThrow('it left "changed.txt", "results/out.csv"');
    await expect(read('../index.json')).rejects.toThrow('The run left no file');
  });

  test('a run that fails leaves its files, too; one without files leaves none', async () => {
    const failed = await pungi.run({ code: 'open("part.txt", "w").write("half")\n1 / 0' }, ANN);
    verdictOf(failed, 'python-error');
    expect(failed.artifacts).toMatchObject([{ path: 'part.txt' }]);
    expect((await pungi.run({ code: 'print(1)' }, ANN)).artifacts).toBeUndefined();
  });

  test('in a session every run has the files that it made or changed', async () => {
    const first = await pungi.run({ code: 'open("a.txt", "w").write("1")', session: 'new' }, ANN);
    const session = first.session!.id;
    const paths = async (code: string) =>
      (await pungi.run({ code, session }, ANN)).artifacts?.map(({ path }) => path);
    expect(first.artifacts).toMatchObject([{ path: 'a.txt' }]);
    expect(await paths('1')).toBeUndefined();
    expect(await paths('open("b.txt", "w").close()')).toEqual(['b.txt']);
    expect(await paths('open("a.txt", "a").write("2")')).toEqual(['a.txt']);
    pungi.endSession(session, ANN.caller);
  });

  test('what a killed run has written is there, if it fits', async () => {
    const code = 'open("a.txt", "w").write("1")\nimport time\ntime.sleep(100)';
    const outcome = await pungi.run({ code, limits: { timeoutMs: 400 } }, ANN);
    verdictOf(outcome, 'timed-out');
    expect(outcome.artifacts).toMatchObject([{ path: 'a.txt' }]);
  });
});

const pungi = pungis.namespace;

test('another caller, another run and a made-up one get nothing', async () => {
  const { runId: run } = await pungi.run({ code: 'open("a.txt", "w").write("secret")' }, ANN);
  await expect(pungi.readArtifact({ run, path: 'a.txt' }, BEN.caller)).rejects.toThrow(
    'No such files of this run',
  );
  for (const made of ['../..', run.replace(/^./, 'x'), '__proto__'])
    await expect(pungi.readArtifact({ run: made, path: 'a.txt' }, ANN.caller)).rejects.toThrow(
      'No such files of this run',
    );
});

test('too many and too large files are left out, with a note', async () => {
  await withPungi({ ARTIFACT_DIR: temporaryFolder(), ARTIFACT_MB: '1' }, async (small) => {
    const code = 'open("large.bin", "wb").write(bytes(2 << 20))\nopen("small.txt", "w").write("x")';
    const outcome = await small.run({ code }, ANN);
    expect(outcome.artifacts).toMatchObject([{ path: 'small.txt' }]);
    expect(outcome.notes).toEqual([expect.stringMatching(/^A file was left out/)]);
  });
});

test('the oldest files make room, first those of the same caller', async () => {
  const folder = temporaryFolder();
  await withPungi({ ARTIFACT_DIR: folder, ARTIFACT_TOTAL_MB: '4' }, async (full) => {
    const leave = async (options: typeof ANN) =>
      (await full.run({ code: 'open("a.bin", "wb").write(bytes(1 << 20))' }, options)).runId;
    const read = (run: string, { caller } = ANN) => full.readArtifact({ run, path: 'a.bin' }, caller);
    const bens = await leave(BEN);
    const [first, second] = [await leave(ANN), await leave(ANN)];
    const third = await leave(ANN);
    await expect(read(first)).rejects.toThrow('they have expired');
    expect((await read(second)).size).toBe(1 << 20);
    expect((await read(third)).size).toBe(1 << 20);
    expect((await read(bens, BEN)).size).toBe(1 << 20);
    expect(readdirSync(folder)).toHaveLength(3);
  });
});

test('files survive a restart; what is half-written or foreign is not served', async () => {
  const folder = temporaryFolder();
  const settings = { ARTIFACT_DIR: folder };
  const run = await withPungi(settings, async (before) => {
    const outcome = await before.run({ code: 'open("a.txt", "w").write("kept")' }, ANN);
    return outcome.runId;
  });
  mkdirSync(join(folder, 'not a run'));
  await withPungi(settings, async (after) => {
    expect((await after.readArtifact({ run, path: 'a.txt' }, ANN.caller)).content.toString()).toBe('kept');
    writeFileSync(join(folder, run, '0'), 'forged');
    await expect(after.readArtifact({ run, path: 'a.txt' }, ANN.caller)).rejects.toThrow(
      'removed or changed',
    );
  });
});

test('a program gets the files at once', async () => {
  const seen: ArtifactContent[] = [];
  await pungi.run(
    { code: 'open("a.txt", "w").write("now")' },
    { ...ANN, onFiles: (_, files) => seen.push(...files) },
  );
  expect(seen.map(({ path, content }) => [path, content.toString()])).toEqual([['a.txt', 'now']]);
});
