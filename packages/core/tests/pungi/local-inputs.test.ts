import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTrailForReading } from '../../../pungi/src/index.js';
import { verdictOf } from '../engine/outcomes.js';
import {
  expectOk,
  printed,
  publicInterpreter,
  SANDBOXES,
  sharedPungi,
  temporaryFolder,
  withPungi,
} from '../engine/pungi.js';

const PUNGI_PYTHON = await publicInterpreter();
const folder = temporaryFolder();
chmodSync(folder, 0o700); // only the server must be able to read them
const MB = 1024 * 1024;
const large = join(folder, 'large.bin');
const content = Buffer.alloc(20 * MB + 7, 'pieces of a large file. ');
writeFileSync(large, content);
const digest = createHash('sha256').update(content).digest('hex');
const small = join(folder, 'small.txt');
writeFileSync(small, 'one\ntwo\n');
const empty = join(folder, 'empty');
writeFileSync(empty, '');
const huge = join(folder, 'huge.bin');
writeFileSync(huge, '');
truncateSync(huge, 2 ** 40);

const HASH = 'import hashlib\nprint(hashlib.sha256(open("in/large.bin", "rb").read()).hexdigest())';
const LARGE = { path: 'in/large.bin', from: large };

describe.each([...SANDBOXES, 'spawn'])('files of this machine, in the %s tier', (PUNGI_TIER) => {
  const pungi = sharedPungi({
    PUNGI_TIER,
    PUNGI_PYTHON,
    ALLOW_UNSANDBOXED: 'true',
    ARTIFACT_MB: '64',
    ARTIFACT_DIR: join(folder, `artifacts-${PUNGI_TIER}`),
  });
  const isLocal = PUNGI_TIER !== 'spawn';

  test('of any size lie in the work folder', async () => {
    const outcome = await pungi.run({ code: HASH }, { local: { files: [LARGE] } });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe(`${digest}\n`);
    expect(outcome).not.toHaveProperty('artifacts');
  });

  test('come beside files of the request, in order, also empty ones', async () => {
    const local = {
      files: [
        { path: 'a', from: small },
        { path: 'b/empty', from: empty },
        LARGE,
        { path: 'c', from: small },
      ],
    };
    const code =
      'import os\nprint([os.path.getsize(path) for path in ("a", "b/empty", "in/large.bin", "c", "d")])';
    const outcome = await pungi.run({ code, files: [{ path: 'd', text: '123' }] }, { local });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe(`[8, 0, ${content.length}, 8, 3]\n`);
  });

  test('become standard input', async () => {
    const code = 'import sys, hashlib\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())';
    const outcome = await pungi.run({ code }, { local: { stdin: large } });
    expect(outcome.stdout.text).toBe(`${digest}\n`);
    const lines = await pungi.run({ code: 'print(input(), input())' }, { local: { stdin: small } });
    expect(lines.stdout.text).toBe('one two\n');
  });

  test('are in the audit trail by size and hash, and such a run is not replayed', async () => {
    const AUDIT_DIR = temporaryFolder();
    const settings = { PUNGI_TIER, PUNGI_PYTHON, ALLOW_UNSANDBOXED: 'true', AUDIT: 'true', AUDIT_DIR };
    await withPungi(settings, async (recording) => {
      const code = 'import sys; sys.stdin.read()';
      expectOk(await recording.run({ code }, { local: { files: [LARGE], stdin: small } }));
      const trail = await openTrailForReading(AUDIT_DIR);
      const [entry] = trail.list({ kind: 'run' });
      trail.close();
      const stdin = { path: null, bytes: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
      expect(entry!.data).toMatchObject({
        inputs: {
          sources: expect.arrayContaining([
            { path: 'in/large.bin', bytes: content.length, sha256: digest },
            stdin,
          ]),
        },
      });
      await expect(recording.replay(entry!)).rejects.toThrow('only the hashes were kept');
    });
  });

  test('a module among them is imported', async () => {
    writeFileSync(join(folder, 'module.py'), 'NAME = "mine"');
    const local = { files: [{ path: 'textwrap.py', from: join(folder, 'module.py') }] };
    const outcome = await pungi.run({ code: 'import textwrap\nprint(textwrap.NAME)' }, { local });
    expect(outcome.stdout.text).toBe('mine\n');
  });

  test.runIf(isLocal)('one that the run changed is one of its files; an unchanged one is not', async () => {
    const local = {
      files: [
        { path: 'a', from: small },
        { path: 'b', from: small },
      ],
    };
    const outcome = await pungi.run({ code: 'open("a", "a").write("more")' }, { local });
    expectOk(outcome);
    expect(outcome.artifacts?.map(({ path }) => path)).toEqual(['a']);
  });

  test.runIf(isLocal)('come into a session, before each of its runs', async () => {
    const first = await pungi.run({ code: HASH, session: 'new' }, { local: { files: [LARGE] } });
    expect(first.stdout.text).toBe(`${digest}\n`);
    const session = first.session!.id;
    const local = { files: [{ path: 'in/large.bin', from: small }], stdin: small };
    const second = await pungi.run(
      { code: 'print(open("in/large.bin").read(), input())', session },
      { local },
    );
    expect(second.stdout.text).toBe('one\ntwo\n one\n');
    expect(await printed(pungi, { code: 'print("alive")', session })).toBe('alive\n');
  });

  test.runIf(isLocal)('that do not fit beside what a session has written end it', async () => {
    const first = await pungi.run({ code: `open("own", "wb").write(b"x" * ${50 * MB})`, session: 'new' });
    expectOk(first);
    const session = first.session!.id;
    const second = await pungi.run({ code: '1', session }, { local: { files: [LARGE] } });
    verdictOf(second, 'disk-exceeded');
    expect(second.session).toMatchObject({ alive: false });
  });

  test.runIf(isLocal)('a session that steals them from its own worker harms no other', async () => {
    const thief = `
import os, threading
def steal(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
for fd in [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]:
    threading.Thread(target=steal, args=(fd,), daemon=True).start()
`;
    const first = await pungi.run({ code: thief, session: 'new' });
    const session = first.session!.id;
    const limits = { timeoutMs: 1000 };
    await pungi.run(
      { code: HASH, session, limits },
      { local: { files: [LARGE, { path: 'b', from: large }] } },
    );
    const other = await pungi.run({ code: HASH }, { local: { files: [LARGE] } });
    expect(other.stdout.text).toBe(`${digest}\n`);
  });

  test('a run that ends while they come harms no later one', async () => {
    const local = { files: Array.from({ length: 3 }, (_, n) => ({ path: `${n}`, from: large })) };
    const outcome = await pungi.run({ code: '1', limits: { timeoutMs: 1 } }, { local });
    verdictOf(outcome, 'timed-out');
    const cancelling = new AbortController();
    const cancelled = pungi.run({ code: 'print(1)' }, { local, signal: cancelling.signal, onStep: () => {} });
    cancelling.abort();
    expect((await cancelled).verdict.kind).toBe('cancelled');
    expect(await printed(pungi, { code: 'print("next")' })).toBe('next\n');
  });
});

describe('refused, with the reason', () => {
  const pungi = sharedPungi({});
  mkdirSync(join(folder, 'folder'));
  test.each([
    [
      'a file that does not exist',
      { files: [{ path: 'a', from: join(folder, 'none') }] },
      'it does not exist',
    ],
    ['a folder', { files: [{ path: 'a', from: join(folder, 'folder') }] }, 'is not a regular file'],
    ['a device', { stdin: '/dev/zero' }, 'is not a regular file'],
    ['a path out of the work folder', { files: [{ path: '../a', from: small }] }, 'relative path without'],
    ['an absolute path', { files: [{ path: '/a', from: small }] }, 'relative path without'],
    [
      'the same path twice',
      {
        files: [
          { path: 'a', from: small },
          { path: 'a', from: small },
        ],
      },
      'the same path',
    ],
    [
      'a path below another file',
      {
        files: [
          { path: 'a', from: small },
          { path: 'a/b', from: small },
        ],
      },
      'below another file',
    ],
    ['the place of the script', { files: [{ path: 'main.py', from: small }] }, 'conflicts with the script'],
    ['more than the disk of the run', { files: [{ path: 'a', from: huge }] }, 'larger than the'],
  ])('%s', async (_, local, why) => {
    const { verdict } = await pungi.run({ code: '1', filename: 'main.py' }, { local });
    expect(verdict).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(why) });
  });

  test('standard input that is given twice', async () => {
    const { verdict } = await pungi.run({ code: '1', stdin: 'x' }, { local: { stdin: small } });
    expect(verdict).toMatchObject({ code: 'INVALID_INPUT' });
  });
});
