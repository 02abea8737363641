import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../../tests/support/until.js';
import { runInside } from '../../../cli/tests/run-inside.js';
import { PungiError } from '../../src/base/errors.js';
import type { Pungi } from '../../src/pungi.js';
import { ANN, BEN, type CallerAttack } from './caller-attack.js';
import { descendantsOf } from './process-tree.js';

const MB = 1024 * 1024;
export const ARTIFACT_TOTAL_MB = 16;
export const MAX_SESSIONS_PER_CALLER = 4;
export const MAX_BACKGROUND_PER_CALLER = 4;

/** A problem unless it is so. */
const check = (isSo: boolean, problem: string) => (isSo ? [] : [problem]);

/** The code of the error that a promise is rejected with. */
const refusalOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: unknown) => PungiError.from(error).code as string,
  );

/** Runs code that must end well; returns what it printed. */
async function printed(pungi: Pungi, code: string, more: object = {}, options = BEN): Promise<string> {
  const { verdict, stdout } = await pungi.run({ code, ...more }, options);
  return verdict.kind === 'ok' ? stdout.text : JSON.stringify(verdict);
}

const leave = (pungi: Pungi, size: number, options: typeof ANN) =>
  pungi.run({ code: `import os\nopen("a.bin", "wb").write(os.urandom(${size}))` }, options);

export const CALLER_ATTACKS: CallerAttack[] = [
  {
    name: 'opens and drops thousands of sessions',
    attack: async ({ pungi, isShort }) => {
      const open = () => pungi.run({ code: 'x = 1', session: 'new' }, ANN);
      await printed(pungi, 'print(1)');
      await until(async () => {
        const { pool } = await pungi.health();
        return pool.parked === pool.target && pool.parking === 0;
      }, 'the pool is full');
      const own = (await pungi.run({ code: 'kept = "kept"', session: 'new' }, BEN)).session!.id;
      // A session has a supervisor, a template and a worker of its own, whether or not the pool has replaced them.
      const most = descendantsOf(process.pid).length + 3;
      let refused = 0;
      for (let round = 0; round < (isShort ? 20 : 200); round += 1) {
        // One more than there may be; it is refused, and nothing of it stays.
        const opened = await Promise.all(Array.from({ length: MAX_SESSIONS_PER_CALLER + 1 }, open));
        refused += opened.filter(({ verdict }) => verdict.kind === 'busy').length;
        const alive = opened.flatMap(({ session }) => (session ? [session.id] : []));
        // Dropped in every way: while it runs, by its own end, and by its owner.
        const [first = '', second = '', ...rest] = alive;
        const running = pungi.run({ code: 'while True: pass', session: first }, ANN);
        await pungi.run({ code: 'import os\nos._exit(1)', session: second }, ANN);
        for (const id of [first, ...rest]) pungi.endSession(id, ANN.caller);
        await running;
      }
      const living = () => descendantsOf(process.pid).map(({ pid, command }) => `${pid} ${command}`);
      const left = await until(() => living().length <= most, 'no process is left').then(() => [], living);
      return [
        ...check(refused > 0, 'none was refused'),
        ...check(pungi.sessions(ANN.caller).length === 0, 'sessions are left'),
        ...check(left.length === 0, `${left.length} processes, and not ${most}: ${left.join(', ')}`),
        ...check((await printed(pungi, 'print(kept)', { session: own })) === 'kept\n', 'another one is lost'),
      ];
    },
  },
  {
    name: 'fills the store of files',
    attack: async ({ pungi, folder, isShort }) => {
      const store = join(folder, 'artifacts');
      const read = (run: string, { caller } = BEN) => pungi.readArtifact({ run, path: 'a.bin' }, caller);
      const { runId: bens } = await leave(pungi, MB, BEN);
      const { runId: first } = await leave(pungi, MB, ANN);
      for (let run = 0; run < ARTIFACT_TOTAL_MB; run += 1) await leave(pungi, 2 * MB, ANN);
      const many = 'for number in range(200): open(f"{number}", "w").close()';
      for (let run = 0; run < (isShort ? 15 : 60); run += 1) await printed(pungi, many, {}, ANN);
      const { runId: last } = await leave(pungi, MB, ANN);
      const folders = readdirSync(store);
      const files = folders.flatMap((name) =>
        readdirSync(join(store, name)).map((one) => join(store, name, one)),
      );
      const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
      const isPrivate = folders.every((name) => (statSync(join(store, name)).mode & 0o077) === 0);
      return [
        ...check((await read(bens)).size === MB, 'the file of another one is gone'),
        ...check((await read(last, ANN)).size === MB, 'its last file is not there'),
        ...check((await refusalOf(read(first, ANN))) === 'INVALID_INPUT', 'its first file is still there'),
        ...check((await refusalOf(read(last))) === 'INVALID_INPUT', 'another caller reads its file'),
        ...check(bytes < ARTIFACT_TOTAL_MB * MB, `${bytes} bytes are kept`),
        ...check(files.length < 3000, `${files.length} files are kept`),
        ...check(isPrivate, 'other users can look at the files'),
      ];
    },
  },
  {
    name: 'reads a large file, or parts of it, a hundred times at once',
    attack: async ({ pungi }) => {
      const { runId: run } = await leave(pungi, 7 * MB, ANN);
      const held = () => process.memoryUsage().arrayBuffers;
      const before = held();
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, held() - before)), 2);
      const sizeOf = async (part: object) =>
        (await pungi.readArtifact({ run, path: 'a.bin', ...part }, ANN.caller)).content.length;
      const times = Array.from({ length: 100 });
      const parts = await Promise.all(times.map(() => sizeOf({ offset: 5 * MB, most: 1000 })));
      const whole = await Promise.all(times.map(() => sizeOf({})));
      clearInterval(watch);
      return [
        ...check(
          parts.every((size) => size === 1000) && whole.every((size) => size === 7 * MB),
          'they are not whole',
        ),
        ...check(most < 300 * MB, `${Math.round(most / MB)} MB were held for them`),
      ];
    },
  },
  {
    name: 'asks for the files of a run whose id leads out of the store',
    attack: async ({ pungi, folder }) => {
      const store = join(folder, 'artifacts');
      const places = [join(folder, 'own'), join(store, 'own')];
      for (const place of places) {
        mkdirSync(join(place, 'deep'), { recursive: true });
        writeFileSync(join(place, 'index.json'), '{}');
        utimesSync(place, 0, 0); // what is old and no run of the store is removed from it
      }
      const ids = [randomUUID(), '-'.repeat(36)].flatMap((id) => [`${id}/../../own`, `${id}/../own`]);
      const answers = [...ids, '../own', 'own', places[0]!].map(async (run) => {
        const { verdict } = await pungi.run({ code: '1', filesOf: run }, ANN);
        return [verdict.kind, await refusalOf(pungi.readArtifact({ run, path: 'index.json' }, ANN.caller))];
      });
      const told = (await Promise.all(answers)).flat();
      return [
        ...check(
          told.every((one) => one === 'invalid' || one === 'INVALID_INPUT'),
          `the reply says ${told}`,
        ),
        ...places.flatMap((place) => check(existsSync(join(place, 'deep')), `it has removed ${place}`)),
      ];
    },
  },
  {
    name: 'fills the store with uploads, and asks for those of another one',
    attack: async ({ pungi }) => {
      const send = (size: number, { caller } = ANN) =>
        pungi.upload({ content: Buffer.alloc(size, 'x') }, caller);
      const { upload: bens } = await send(MB, BEN);
      for (let number = 0; number < 150; number += 1) await send(100);
      for (let number = 0; number < ARTIFACT_TOTAL_MB; number += 1) await send(2 * MB);
      const { uploads } = await pungi.files(ANN.caller);
      const bytes = uploads.reduce((sum, { size }) => sum + size, 0);
      const stolen = await pungi.run({ code: 'print(1)', files: [{ path: 'a', upload: bens }] }, ANN);
      const grown = pungi.upload({ content: Buffer.from('more'), upload: bens, offset: MB }, ANN.caller);
      const whole = { files: [{ path: 'a', upload: bens }] };
      return [
        ...check(uploads.length <= 100, `${uploads.length} uploads are kept`),
        ...check(bytes <= (ARTIFACT_TOTAL_MB / 2) * MB, `${bytes} bytes are kept`),
        ...check(stolen.verdict.kind === 'invalid', `the upload of another one is a ${stolen.verdict.kind}`),
        ...check((await refusalOf(grown)) === 'INVALID_INPUT', 'it adds to the upload of another one'),
        ...check(
          (await printed(pungi, 'print(len(open("a").read()))', whole)) === `${MB}\n`,
          'it is not whole',
        ),
      ];
    },
  },
  {
    name: 'starts background runs without end, and asks for those of another one',
    attack: async ({ pungi }) => {
      const forever = (options: typeof ANN) =>
        pungi.runInBackground({ code: 'print("begun", flush=True)\nwhile True: pass' }, options);
      const started: string[] = [];
      let refused = 0;
      for (let number = 0; number < 50; number += 1)
        await forever(ANN).then(
          ({ run }) => started.push(run),
          () => (refused += 1),
        );
      const { run: bens } = await forever(BEN);
      const [seen, cancelled] = [pungi.getRun(bens, ANN), pungi.cancelRun(bens, ANN.caller)].map(refusalOf);
      const listed = await pungi.listRuns(ANN.caller);
      const direct = await printed(pungi, 'print(1)');
      for (const run of started) await pungi.cancelRun(run, ANN.caller);
      const found = await refusalOf(pungi.cancelRun(bens, BEN.caller));
      return [
        ...check(
          started.length === MAX_BACKGROUND_PER_CALLER && refused > 0,
          `${started.length} were started`,
        ),
        ...check(
          (await seen) !== 'nothing' && (await cancelled) !== 'nothing',
          'it finds the run of another one',
        ),
        ...check(
          listed.every(({ run }) => run !== bens),
          'the run of another one is listed',
        ),
        ...check(direct === '1\n', `a direct run beside them: ${direct}`),
        ...check(found === 'nothing', 'another one does not find its run'),
      ];
    },
  },
  {
    name: 'writes past the folder of a shell, and ends it in every way',
    attack: async ({ folder, python, tier }) => {
      const out = join(folder, 'out');
      const secret = join(folder, 'secret.txt');
      mkdirSync(out);
      writeFileSync(secret, 'as before');
      symlinkSync(secret, join(out, 'link.txt'));
      symlinkSync(folder, join(out, 'folder'));
      const input = [
        'import os',
        'open("link.txt", "w").write("changed")',
        'os.mkdir("folder"); open("folder/planted.txt", "w").write("planted")',
        'print("\\x1b]0;title\\x07", end="")',
        'def read(path):\n    try: return open(path).read()\n    except OSError: return "refused"\n',
        `print(read(${JSON.stringify(secret)}))`,
        'os._exit(3)',
        'print("never")',
      ].join('\n');
      const { PATH = '', HOME = '', PUNGI_DATA_DIR = '' } = process.env;
      const own = { PATH, HOME, PUNGI_DATA_DIR, VENVS_BASE_PATH: join(folder, 'environments') };
      const env = { ...own, PUNGI_PYTHON: python, PUNGI_TIER: tier, AUDIT: 'false' };
      const { status, stdout, stderr } = await runInside(['shell', '--out', out], {
        env,
        cwd: folder,
        input,
      });
      return [
        ...check(readFileSync(secret, 'utf8') === 'as before', 'it has changed a file'),
        ...check(!existsSync(join(folder, 'planted.txt')), 'it has planted a file'),
        ...check(stdout.includes('refused') && !stdout.includes('never'), `it printed ${stdout}${stderr}`),
        ...check(status !== 0, 'a shell whose session has ended ends well'),
      ];
    },
  },
];
