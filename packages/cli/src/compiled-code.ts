import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { makeFolders } from '@pungi/core/base';

/** A file name may have 255 bytes. */
const LONGEST_NAME = 150;

/**
 * Loads a CommonJS file of the build with the user's copy of its compiled code, which a process that found none writes when it
 * ends, if `isWhole` its work. Only a copy that nobody but the user can have written is used: what it contains is run.
 */
export function loadCompiled<T>(file: string, isWhole: (status: number) => boolean): T {
  const load = createRequire(file);
  // Coverage and source maps need Node's own way to load a file.
  const { NODE_V8_COVERAGE: coverage, NODE_OPTIONS: options = '' } = process.env;
  const needsPlain = coverage || [...process.execArgv, options].some((flag) => flag.includes('source-map'));
  if (process.getuid === undefined || needsPlain) return load(file) as T;
  // The bundle is ASCII, so that V8 gets one byte a character without decoding.
  const source = readFileSync(file, 'latin1');
  const kept = keptCode(file);
  const code = readOwn(kept.path);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    ...(code && { cachedData: code }),
  });
  if (code === undefined || script.cachedDataRejected)
    process.once('exit', (status) => isWhole(status) && writeOwn(kept, script.createCachedData()));
  const module = { exports: {} as T };
  script.runInThisContext().call(module.exports, module.exports, load, module, file, dirname(file));
  return module.exports;
}

interface KeptCode {
  path: string;
  /** How the names begin of code that was compiled from an earlier content of the file. */
  prefix: string;
}

/** Code is that of one file, as it is now, compiled by one version of V8. */
function keptCode(file: string): KeptCode {
  const { PUNGI_CACHE_DIR: own, XDG_CACHE_HOME: cache } = process.env;
  const folder = own || join(cache || join(homedir(), '.cache'), 'pungi', 'bytecode');
  const { ino, size, ctimeMs } = statSync(file);
  const prefix = `${encodeURIComponent(file).slice(-LONGEST_NAME)}-${process.versions.v8}-${process.arch}-`;
  return { path: join(folder, `${prefix}${ino}-${size}-${ctimeMs}.v8`), prefix };
}

function readOwn(path: string): Buffer | undefined {
  try {
    if (!isOwn(lstatSync(dirname(path)))) return undefined;
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const about = fstatSync(file);
      return about.isFile() && isOwn(about) ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Whether nobody but this user, and root, can have written it. */
const isOwn = ({ uid, mode }: Stats) => uid === process.getuid?.() && (mode & 0o022) === 0;

/** A cache that cannot be written is slow, not an error. */
function writeOwn({ path, prefix }: KeptCode, code: Buffer): void {
  const folder = dirname(path);
  const draft = `${path}.${process.pid}`;
  try {
    makeFolders(folder, 0o700);
    if (!isOwn(lstatSync(folder))) return;
    for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name));
    try {
      writeFileSync(draft, code, { flag: 'wx', mode: 0o600 });
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  } catch {
    // The next command tries again.
  }
}
