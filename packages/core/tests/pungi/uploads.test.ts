import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PungiError } from '../../src/base/errors.js';
import type { Pungi } from '../../src/pungi.js';
import {
  expectOk,
  publicInterpreter,
  SANDBOXES,
  sharedPungi,
  startPungi,
  temporaryFolder,
  withPungi,
} from '../engine/pungi.js';

const MB = 1024 * 1024;
const python = await publicInterpreter();
const ANNA = { client: 'anna', token: 'anna' };
const BORIS = { client: 'boris', token: 'boris' };

const bytes = (text: string) => Buffer.from(text);
const refusal = (upload: Promise<unknown>) =>
  upload.then(
    () => 'accepted',
    ({ code, message }: PungiError) => `${code}: ${message}`,
  );
/** Runs for a caller with an upload; returns what it printed, or why it was refused. */
async function read(pungi: Pungi, upload: string, caller = ANNA, more = {}): Promise<string> {
  const code = 'print(open("in/it").read(), end="")';
  const outcome = await pungi.run({ code, files: [{ path: 'in/it', upload }], ...more }, { caller });
  return outcome.verdict.kind === 'ok' ? outcome.stdout.text : JSON.stringify(outcome.verdict);
}

describe.each(SANDBOXES)('an upload, in the %s tier', (PUNGI_TIER) => {
  const settings = { PUNGI_TIER, PUNGI_PYTHON: python, ARTIFACT_DIR: temporaryFolder() };
  const pungi = sharedPungi(settings);

  test('grows part by part, and is a file of any run of its caller', async () => {
    const { upload, size } = await pungi.upload({ content: bytes('one ') }, ANNA);
    expect(size).toBe(4);
    expect(await pungi.upload({ upload, offset: 4, content: bytes('two') }, ANNA)).toEqual({
      upload,
      size: 7,
    });
    expect(await read(pungi, upload)).toBe('one two');
    expect(await read(pungi, upload)).toBe('one two');
    const inSession = await pungi.run(
      { code: 'print(open("it").read())', files: [{ path: 'it', upload }], session: 'new' },
      { caller: ANNA },
    );
    expect(inSession.stdout.text).toBe('one two\n');
  });

  test('larger than any message', async () => {
    const part = Buffer.alloc(5 * MB, 'abcdefg');
    const { upload } = await pungi.upload({ content: part }, ANNA);
    for (const offset of [5 * MB, 10 * MB]) await pungi.upload({ upload, offset, content: part }, ANNA);
    const code = 'import hashlib\nprint(hashlib.sha256(open("big", "rb").read()).hexdigest())';
    const outcome = await pungi.run({ code, files: [{ path: 'big', upload }] }, { caller: ANNA });
    expectOk(outcome);
    const digest = createHash('sha256')
      .update(Buffer.concat([part, part, part]))
      .digest('hex');
    expect(outcome.stdout.text).toBe(`${digest}\n`);
    expect(outcome).not.toHaveProperty('artifacts');
  });
});

describe('an upload', () => {
  const ARTIFACT_DIR = temporaryFolder();
  const pungi = sharedPungi({ ARTIFACT_DIR });

  test('a part that is sent again changes nothing; one that does not continue it is refused', async () => {
    const { upload } = await pungi.upload({ content: bytes('abcdef') }, ANNA);
    const add = (offset: number, text: string) =>
      pungi.upload({ upload, offset, content: bytes(text) }, ANNA);
    expect(await add(0, 'abcdef')).toEqual({ upload, size: 6 });
    expect(await add(3, 'defgh')).toEqual({ upload, size: 8 });
    expect(await refusal(add(9, 'x'))).toBe(
      'INVALID_INPUT: The upload has 8 bytes: send what follows, with offset 8.',
    );
    expect(await refusal(add(2, 'xx'))).toContain('it goes on at offset 8');
    expect(await refusal(pungi.upload({ content: bytes('x'), offset: 1 }, ANNA))).toContain('has offset 0');
    expect(await read(pungi, upload)).toBe('abcdefgh');
  });

  test('two writers at once: each part is there once, and whole', async () => {
    const { upload } = await pungi.upload({ content: bytes('') }, ANNA);
    const parts = ['a', 'b'].map((letter) => letter.repeat(1000));
    const answers = await Promise.all(
      [0, 1].flatMap(() =>
        parts.map((part) => refusal(pungi.upload({ upload, offset: 0, content: bytes(part) }, ANNA))),
      ),
    );
    expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(2);
    expect(parts).toContain(await read(pungi, upload));
  });

  test('belongs to its caller: others neither read nor change it, and learn nothing of it', async () => {
    const { upload } = await pungi.upload({ content: bytes('secret') }, ANNA);
    const none = await refusal(
      pungi.upload({ upload: `upload-${crypto.randomUUID()}`, offset: 0, content: bytes('x') }, BORIS),
    );
    expect(none).toContain('There is no such upload');
    expect(await refusal(pungi.upload({ upload, offset: 6, content: bytes('x') }, BORIS))).toBe(none);
    expect(await read(pungi, upload, BORIS)).toContain('There is no such upload');
    expect(JSON.stringify(await pungi.files(BORIS))).not.toContain(upload.slice(7));
    await expect(pungi.readArtifact({ run: upload.slice(7), path: '0' }, ANNA)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect((await pungi.files(ANNA)).uploads).toContainEqual({ upload, size: 6 });
    expect(await read(pungi, upload)).toBe('secret');
  });

  test.each([
    'upload-../../etc/passwd',
    'upload-',
    'upload-0/../..',
    '',
    'upload-\0',
    `upload-${'a'.repeat(36)}`,
  ])('a forged handle, %j, is refused', async (upload) => {
    expect(await refusal(pungi.upload({ upload, offset: 0, content: bytes('x') }, ANNA))).toContain(
      'INVALID_INPUT',
    );
    expect(await read(pungi, upload)).toMatch(/INVALID_INPUT/);
  });

  test.each(['../it', '/it', 'a/../../it', 'main.py'])(
    'its path in a run, %s, is checked like others',
    async (path) => {
      const { upload } = await pungi.upload({ content: bytes('x') }, ANNA);
      const { verdict } = await pungi.run(
        { code: '1', filename: 'main.py', files: [{ path, upload }] },
        { caller: ANNA },
      );
      expect(verdict).toMatchObject({ code: 'INVALID_INPUT' });
    },
  );

  test('with text, or with another file at its place, is refused', async () => {
    const { upload } = await pungi.upload({ content: bytes('x') }, ANNA);
    for (const files of [
      [{ path: 'a', upload, text: '' }],
      [
        { path: 'a', upload },
        { path: 'a', text: '' },
      ],
    ]) {
      const { verdict } = await pungi.run({ code: '1', files }, { caller: ANNA });
      expect(verdict).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  test('is not in the audit trail by its handle', async () => {
    const AUDIT_DIR = temporaryFolder();
    const own = startPungi({ ARTIFACT_DIR: temporaryFolder(), AUDIT: 'true', AUDIT_DIR });
    const { upload } = await own.upload({ content: bytes('x') }, ANNA);
    await read(own, upload);
    await own.close();
    const files = readdirSync(AUDIT_DIR).map((name) => join(AUDIT_DIR, name));
    const trail = files.map((file) => readFileSync(file, 'latin1')).join('');
    expect(trail).toContain('in/it');
    expect(trail).not.toContain(upload);
  });
});

test('survives a restart, also if a part was cut; expires; a damaged one is gone', async () => {
  const ARTIFACT_DIR = temporaryFolder();
  const settings = { ARTIFACT_DIR, ARTIFACT_HOURS: '1' };
  const uploads = await withPungi(settings, (pungi) =>
    Promise.all([1, 2].map(async () => (await pungi.upload({ content: bytes('abcdef') }, ANNA)).upload)),
  );
  const fileOf = (upload: string) => join(ARTIFACT_DIR, upload.slice(7), '0');
  truncateSync(fileOf(uploads[0]!), 4);
  const long = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(fileOf(uploads[1]!), long, long);
  await withPungi(settings, async (pungi) => {
    expect(
      await pungi.upload({ upload: uploads[0]!, offset: 0, content: bytes('abcdef') }, ANNA),
    ).toMatchObject({ size: 6 });
    expect(await read(pungi, uploads[0]!)).toBe('abcdef');
    expect(await read(pungi, uploads[1]!)).toContain('There is no such upload');
  });
});

test('is bounded: by what a run can have, by the share of its caller, and in number', async () => {
  const settings = {
    ARTIFACT_DIR: temporaryFolder(),
    ARTIFACT_TOTAL_MB: '4',
    MAX_DISK_MB: '1',
    MAX_REQUEST_DISK_MB: '1',
  };
  await withPungi(settings, async (pungi) => {
    const full = await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    const more = pungi.upload({ upload: full.upload, offset: MB, content: bytes('x') }, ANNA);
    expect(await refusal(more)).toContain('larger than 1 MB');
    const others = await pungi.upload({ content: Buffer.alloc(MB) }, BORIS);
    for (let count = 0; count < 4; count += 1) await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    // Hers make room for hers.
    expect((await pungi.files(ANNA)).uploads).toHaveLength(2);
    expect(await read(pungi, full.upload)).toContain('There is no such upload');
    expect((await pungi.files(BORIS)).uploads).toEqual([others]);
    for (let count = 0; count < 103; count += 1) await pungi.upload({ content: bytes('') }, BORIS);
    expect((await pungi.files(BORIS)).uploads).toHaveLength(100);
  });
});

test('empty ones of many callers are bounded, too', async () => {
  const ARTIFACT_DIR = temporaryFolder();
  await withPungi({ ARTIFACT_DIR, ARTIFACT_TOTAL_MB: '1' }, async (pungi) => {
    const names = Array.from({ length: 6 }, (_, number) => `caller ${number}`);
    for (const client of names)
      for (let count = 0; count < 50; count += 1) await pungi.upload({ content: bytes('') }, { client });
    expect(readdirSync(ARTIFACT_DIR)).toHaveLength(256);
  });
});

test('one that could never fit is refused, and nothing makes room for it', async () => {
  const ARTIFACT_DIR = temporaryFolder();
  await withPungi({ ARTIFACT_DIR, ARTIFACT_TOTAL_MB: '4' }, async (pungi) => {
    const { upload } = await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    const { runId } = await pungi.run({ code: 'open("left", "w").write("x")' }, { caller: ANNA });
    const whole = pungi.upload({ content: Buffer.alloc(3 * MB) }, ANNA);
    expect(await refusal(whole)).toBe(
      'INVALID_INPUT: The upload would be larger than 2 MB, half of ARTIFACT_TOTAL_MB.',
    );
    const part = pungi.upload({ upload, offset: MB, content: Buffer.alloc(2 * MB) }, ANNA);
    expect(await refusal(part)).toContain('larger than 2 MB');
    const { uploads, runs } = await pungi.files(ANNA);
    expect(uploads).toEqual([{ upload, size: MB }]);
    expect(runs.map(({ run }) => run)).toEqual([runId]);
  });
});

test('one that a run uses does not make room before it has ended', async () => {
  const ARTIFACT_DIR = temporaryFolder();
  await withPungi({ ARTIFACT_DIR, ARTIFACT_TOTAL_MB: '4' }, async (pungi) => {
    const { upload } = await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    let started = () => {};
    const running = new Promise<void>((resolve) => (started = resolve));
    const code = 'import os, sys\nprint(os.path.getsize("it"), flush=True)\nimport time\ntime.sleep(30)';
    const stop = new AbortController();
    const run = pungi.run(
      { code, files: [{ path: 'it', upload }] },
      { caller: ANNA, signal: stop.signal, onLine: () => started() },
    );
    await running;
    await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    const third = await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    expect((await pungi.files(ANNA)).uploads.map((one) => one.upload)).toEqual([upload, third.upload]);
    stop.abort();
    await run;
    const fourth = await pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    expect((await pungi.files(ANNA)).uploads.map((one) => one.upload)).toEqual([third.upload, fourth.upload]);
  });
});

test('one of a run that is refused for another upload makes room', async () => {
  const settings = { ARTIFACT_DIR: temporaryFolder(), ARTIFACT_TOTAL_MB: '2' };
  await withPungi(settings, async (pungi) => {
    const send = () => pungi.upload({ content: Buffer.alloc(MB) }, ANNA);
    const { upload } = await send();
    const files = [
      { path: 'a', upload },
      { path: 'b', upload: `upload-${crypto.randomUUID()}` },
    ];
    const { verdict } = await pungi.run({ code: '1', files }, { caller: ANNA });
    expect(verdict).toMatchObject({ code: 'INVALID_INPUT' });
    expectOk(await pungi.run({ code: '1', files: files.slice(0, 1) }, { caller: ANNA }));
    expect(await refusal(send())).toBe('accepted');
  });
});

test('where no files are kept, there are none', async () => {
  await withPungi({ ARTIFACT_MB: '0' }, async (pungi) => {
    expect(await refusal(pungi.upload({ content: bytes('x') }, ANNA))).toContain('No uploads are kept here');
    expect(await read(pungi, `upload-${crypto.randomUUID()}`)).toContain('No uploads are kept here');
  });
});

test('where they cannot be kept, one sentence says why', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await withPungi({ ARTIFACT_DIR: join(file, 'artifacts') }, async (pungi) => {
    expect(await refusal(pungi.upload({ content: bytes('x') }, ANNA))).toMatch(
      /^INTERNAL_ERROR: Uploads cannot be kept here: it is not a folder, .* set ARTIFACT_DIR\.$/,
    );
  });
});

test('a folder that is no upload harms nothing', async () => {
  const ARTIFACT_DIR = temporaryFolder();
  writeFileSync(join(ARTIFACT_DIR, crypto.randomUUID()), 'x');
  await withPungi({ ARTIFACT_DIR }, async (pungi) => {
    expect((await pungi.files(ANNA)).uploads).toEqual([]);
    expect(await read(pungi, (await pungi.upload({ content: bytes('x') }, ANNA)).upload)).toBe('x');
  });
});
