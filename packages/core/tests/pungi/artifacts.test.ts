import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { ArtifactContent, Pungi } from '../../../pungi/src/index.js';
import {
  ANN,
  BEN,
  expectOk,
  SANDBOXES,
  sharedPungis,
  temporaryFolder,
  verdictOf,
  withPungi,
} from '../engine/pungi.js';

const ARTIFACT_DIR = temporaryFolder();
const pungis = sharedPungis({ ARTIFACT_DIR });

describe.each(SANDBOXES)('in the %s tier', (tier) => {
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

test('a file is also found by its path in the work folder, and another one is answered with those that there are', async () => {
  const { session, runId: run } = await pungi.run(
    { code: 'open("a.txt", "w").write("1")', session: 'new' },
    ANN,
  );
  await pungi.run({ code: 'open("b.txt", "w").write("2")', session: session!.id }, ANN);
  const read = (place: object, path: string) =>
    pungi.readArtifact({ ...place, path } as { run: string; path: string }, ANN.caller);
  for (const path of ['a.txt', './a.txt', '/work/a.txt'])
    for (const place of [{ run }, { session: session!.id }])
      expect((await read(place, path)).content.toString()).toBe('1');
  await expect(read({ session: session!.id }, 'c.txt')).rejects.toThrow(
    'The session left no file "c.txt"; it left "a.txt", "b.txt".',
  );
  await expect(read({ run }, '../a.txt')).rejects.toThrow(
    'The run left no file "../a.txt"; it left "a.txt".',
  );
  pungi.endSession(session!.id, ANN.caller);
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

test('files that cannot be kept are not named, and a note says why', async () => {
  const folder = temporaryFolder();
  await withPungi({ ARTIFACT_DIR: join(folder, 'kept'), ARTIFACT_TOTAL_MB: '2' }, async (full) => {
    const leave = (bytes: number) => full.run({ code: `open("a.bin", "wb").write(bytes(${bytes}))` }, ANN);
    const large = await leave(3 << 20);
    expect(large).not.toHaveProperty('artifacts');
    expect(large.notes).toEqual([expect.stringMatching(/could not be kept: .* half of ARTIFACT_TOTAL_MB/)]);
    rmSync(join(folder, 'kept'), { recursive: true, force: true });
    writeFileSync(join(folder, 'kept'), '');
    expect((await leave(1)).notes).toEqual([
      "The files that the run left could not be kept: the server's log says why.",
    ]);
  });
});

describe('files of an earlier run that another one takes along', () => {
  test('may fill the disk of the run, and no more', async () => {
    await withPungi({ ARTIFACT_DIR: temporaryFolder(), ARTIFACT_MB: '64' }, async (pungi) => {
      const leave = { code: 'for n in range(2): open(f"{n}.bin", "wb").write(bytes(20 << 20))' };
      const { runId } = await pungi.run(leave, ANN);
      const take = { code: 'import os\nos.path.getsize("0.bin") + os.path.getsize("1.bin")', filesOf: runId };
      expect((await pungi.run(take, ANN)).value?.json).toBe(40 << 20);
      const refused = await pungi.run({ ...take, limits: { diskMb: 30 } }, ANN);
      expect(verdictOf(refused, 'invalid').message).toContain('larger than the 30 MB');
    });
  });

  test('do not lie below files of the request', async () => {
    await withPungi({ ARTIFACT_DIR: temporaryFolder() }, async (pungi) => {
      const { runId } = await pungi.run({ code: 'open("a", "w").close()' }, ANN);
      const refused = await pungi.run({ code: '1', filesOf: runId, files: [{ path: 'a/b', text: '' }] }, ANN);
      expect(verdictOf(refused, 'invalid').message).toContain('lies below another file');
    });
  });

  test('are not taken if they have been changed', async () => {
    const folder = temporaryFolder();
    await withPungi({ ARTIFACT_DIR: folder }, async (pungi) => {
      const { runId } = await pungi.run({ code: 'open("a.txt", "w").write("kept")' }, ANN);
      writeFileSync(join(folder, runId, '0'), 'fake');
      const outcome = await pungi.run({ code: 'print(open("a.txt").read())', filesOf: runId }, ANN);
      expect(outcome.verdict.kind).not.toBe('ok');
      expect(outcome.stdout.text).toBe('');
    });
  });
});

test('empty files fill a store, too', async () => {
  const folder = temporaryFolder();
  await withPungi({ ARTIFACT_DIR: folder, ARTIFACT_TOTAL_MB: '2' }, async (full) => {
    const code = 'for number in range(100): open(f"{number}", "w").close()';
    for (let run = 0; run < 4; run += 1) expectOk(await full.run({ code }, ANN));
    expect(readdirSync(folder)).toHaveLength(2);
  });
});

test('two servers with the same folder see what the other one keeps', async () => {
  const settings = { ARTIFACT_DIR: temporaryFolder() };
  await withPungi(settings, (one) =>
    withPungi(settings, async (other) => {
      const leave = (server: Pungi, options = ANN) =>
        server.run({ code: 'open("a.txt", "w").write("kept")', session: 'new' }, options);
      expectOk(await leave(other, BEN));
      const { runId, session } = await leave(one);
      const read = (caller: typeof ANN.caller) => other.readArtifact({ run: runId, path: 'a.txt' }, caller);
      expect((await read(ANN.caller)).content.toString()).toBe('kept');
      await expect(read(BEN.caller)).rejects.toThrow('No such files');
      const later = await leave(one);
      await until(async () => (await other.files(ANN.caller)).runs.length === 2, 'both are listed');
      const place = { session: later.session!.id, path: 'a.txt' };
      expect((await other.readArtifact(place, ANN.caller)).content.toString()).toBe('kept');
      expect(session!.id).not.toBe(later.session!.id);
    }),
  );
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

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** As large as a frame of pandas, and shown as one. */
const PANDAS = {
  path: 'pandas.py',
  text: `class DataFrame:
    def __init__(self, rows): self.rows, self.size = rows, rows
    def to_csv(self, target):
        for row in range(self.rows): target.write(f"{row},ä\\n")
    def _repr_html_(self): return f"<table>{self.rows}</table>"
    def __repr__(self): return f"{self.rows} rows"`,
};
const SHOW = `display({"image/png": "${PNG}"}, raw=True)\n`;
const FRAME = 'import pandas\n';

describe.each(SANDBOXES)('what a run in the %s tier shows', (tier) => {
  const pungi = pungis[tier];
  const leave = async (code: string, session?: string) => {
    const files = session === undefined || session === 'new' ? [PANDAS] : [];
    const outcome = await pungi.run({ code, files, ...(session !== undefined && { session }) }, ANN);
    expectOk(outcome);
    const read = async (path: string) =>
      (await pungi.readArtifact({ run: outcome.runId, path }, ANN.caller)).content;
    return { ...outcome, read, paths: outcome.artifacts?.map(({ path }) => path) ?? [] };
  };

  test('is left as files under its place, after those of the script', async () => {
    const { paths, read } = await leave(
      `${SHOW}${FRAME}display(pandas.DataFrame(2))\ndisplay({"text/latex": "$x$"}, raw=True)\nopen("a.txt", "w").close()`,
    );
    expect(paths).toEqual(['a.txt', 'figure-1.png', 'display-2.html', 'display-2.csv']);
    expect((await read('figure-1.png')).toString('base64')).toBe(PNG);
    expect((await read('display-2.csv')).toString()).toBe('0,ä\n1,ä\n');
    expect((await read('display-2.html')).toString()).toBe('<table>2</table>');
  });

  test('is left whole where it is too large to be shown so', async () => {
    const { paths, read, displays, notes } = await leave(`${FRAME}pandas.DataFrame(100_000)`);
    expect(paths).toEqual(['display-1.html', 'display-1.csv']);
    expect((await read('display-1.csv')).toString().split('\n')).toHaveLength(100_001);
    expect(displays).toMatchObject([{ data: { 'text/html': '<table>100000</table>' } }]);
    expect(displays![0]!.data).not.toHaveProperty('text/csv');
    expect(notes).toBeUndefined();
  });

  test('is a file where it is too large to be shown at all', async () => {
    const { paths, read, displays, notes } = await leave(
      'parts = {"text/html": "<p>é</p>" * 300_000, "application/vnd.plotly.v1+json": {"data": ["x" * 2_000_000]}}\n' +
        'display({**parts, "text/plain": "page"}, raw=True)\n' +
        'import base64\nwhole = b"%PDF" + b"x" * 3_000_000\n' +
        'display({"application/pdf": base64.b64encode(whole).decode(), "image/svg+xml": "<svg/>" * 400_000}, raw=True)',
    );
    expect(paths).toEqual(['display-1.html', 'display-1.plotly.json', 'display-2.pdf', 'display-2.svg']);
    expect((await read('display-1.html')).toString()).toBe('<p>é</p>'.repeat(300_000));
    expect(JSON.parse((await read('display-1.plotly.json')).toString()).data[0]).toHaveLength(2_000_000);
    expect((await read('display-2.pdf')).length).toBe(3_000_004);
    expect((await read('display-2.svg')).toString()).toBe('<svg/>'.repeat(400_000));
    expect(displays).toMatchObject([{ data: { 'text/plain': 'page' } }, { data: {} }]);
    expect(notes).toBeUndefined();
  });

  test('leaves the value of the run, however much of it finds no room', async () => {
    const { value, notes } = await leave(
      'with open(".large", "wb") as file: file.write(bytes(63_500_000))\n' +
        'for _ in range(100): display({"text/html": "x" * 1_100_000}, raw=True)\n' +
        'for _ in range(1000): display({"text/html": "x"}, raw=True)\n"mine"',
    );
    expect(value).toMatchObject({ repr: "'mine'" });
    expect(notes).toContainEqual(expect.stringContaining('original as text/html: it is too large'));
  });

  test('is left out with a note where it is too large for a file', async () => {
    const { paths, notes } = await leave(`${FRAME}pandas.DataFrame(3_000_000)`);
    expect(paths).toEqual(['display-1.html']);
    expect(notes).toEqual([expect.stringContaining('text/csv of 3000000 cells: save it to a file')]);
  });

  test('takes no name of the script, and leaves nothing of what was cleared', async () => {
    const taken = await leave(`open("figure-1.png", "w").write("mine")\n${SHOW}`);
    expect(taken.paths).toEqual(['figure-1.png', 'shown-figure-1.png']);
    expect((await taken.read('figure-1.png')).toString()).toBe('mine');
    const cleared = await leave(
      `${FRAME}for _ in range(3): display(pandas.DataFrame(50_000 + _), clear=True)`,
    );
    expect(cleared.paths).toEqual(['display-1.html', 'display-1.csv']);
    expect((await cleared.read('display-1.csv')).toString()).toMatch(/\n50001,ä\n$/);
  });

  test('is that of each call of a session', async () => {
    const first = await leave(`${FRAME}pandas.DataFrame(30_000)`, 'new');
    const session = first.session!.id;
    expect((await leave('1', session)).paths).toEqual([]);
    const third = await leave('pandas.DataFrame(40_000)', session);
    expect(third.paths).toEqual(['display-1.html', 'display-1.csv']);
    expect((await third.read('display-1.csv')).toString()).toMatch(/\n39999,ä\n$/);
    pungi.endSession(session, ANN.caller);
  });
});

test('no files are left of what is shown where none are kept', async () => {
  await withPungi({ ARTIFACT_MB: '0' }, async (none) => {
    const outcome = await none.run({ code: `${SHOW}${FRAME}pandas.DataFrame(50_000)`, files: [PANDAS] });
    expect(outcome).toMatchObject({ displays: [{}, {}] });
    expect(outcome.artifacts).toBeUndefined();
    expect(outcome.notes).toBeUndefined();
  });
});
