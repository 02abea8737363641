import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { PungiError } from '@pungi/core/base';

/** A file beside a script, by its path from the script's folder, with "/" between its parts. */
export interface LocalFile {
  path: string;
  content: Buffer;
}

const MOST_FILES = 200;
const MOST_BYTES = 4 * 1024 * 1024;
const DEEPEST = 10;

/** Where a script lies, as Python sees it. */
export interface ScriptPlace {
  /** The folder that imports are looked for in. */
  root: string;
  /** The path of the script from there. */
  script: string;
  /** The path of its folder from there, with a "/" at its end. */
  prefix: string;
  /** The package that it is a module of. */
  package: string | undefined;
}

/**
 * A script that belongs to a package, and imports from it, is a module of that package, as with `python -m`. One that only lies
 * in the folder of a package is a script like any other.
 */
export function placeOf(path: string, code: string): ScriptPlace {
  const names: string[] = [];
  let root = dirname(path);
  while (existsSync(join(root, '__init__.py')) && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(basename(root))) {
    names.unshift(basename(root));
    root = dirname(root);
  }
  const file = basename(path);
  const own = new RegExp(`^\\s*(from\\s+\\.|(from|import)\\s+${names[0]}\\b)`, 'mu');
  if (names.length === 0 || !(['__init__.py', '__main__.py'].includes(file) || own.test(code)))
    return { root: dirname(path), script: file, prefix: '', package: undefined };
  const prefix = `${names.join('/')}/`;
  return { root, script: `${prefix}${file}`, prefix, package: names.join('.') };
}

/** The folder of a script, and what of it goes along with the script wherever that runs. */
export class ScriptFolder {
  readonly #taken = new Map<string, LocalFile>();
  #bytes = 0;
  #real: string;

  constructor(
    private readonly folder: string,
    private readonly script: string,
  ) {
    // A folder that is not there yet holds nothing.
    this.#real = existsSync(folder) ? realpathSync(folder) : folder;
  }

  /** All that goes along. */
  get files(): LocalFile[] {
    return [...this.#taken.values()];
  }

  /** The files of a module: a package wins over a file of its name, as it does for Python. */
  takeModule(name: string): LocalFile[] {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) return [];
    const file = `${name}.py`;
    if (this.#isFile(`${name}/__init__.py`)) return this.#takeFolder(name, 0);
    if (this.#isFile(file)) return file === this.script ? [] : [this.#takeFile(file)];
    return this.#holdsModules(name) ? this.#takeFolder(name, 0) : [];
  }

  /** What a person has named: a file, or a folder with all that is in it. Throws INVALID_INPUT for anything else. */
  takeNamed(path: string): LocalFile[] {
    if (!isPlain(path))
      throw cannot(
        `${JSON.stringify(path)} is no path below the folder of the script, such as "data/sales.csv"`,
      );
    if (path === this.script) return [];
    if (this.#isFolder(path)) return this.#takeFolder(path, 0);
    if (this.#isFile(path)) return [this.#takeFile(path)];
    throw cannot(
      `"${path}" is no file and no folder beside the script, or a link that leads away from there`,
    );
  }

  /** Whether there is such a file, and it does not go along. */
  isLeftBehind(path: string): boolean {
    return isPlain(path) && path !== this.script && !this.#taken.has(path) && this.#isFile(path);
  }

  /** What is not code goes along: packages read it from beside themselves. */
  #takeFolder(path: string, depth: number): LocalFile[] {
    if (depth > DEEPEST) throw cannot(`folders of "${path}" are nested more than ${DEEPEST} deep`);
    return readdirSync(join(this.folder, path))
      .sort()
      .filter((name) => !name.startsWith('.') && name !== '__pycache__' && !name.endsWith('.pyc'))
      .map((name) => `${path}/${name}`)
      .flatMap((inner) => {
        if (this.#isFolder(inner)) return this.#takeFolder(inner, depth + 1);
        return isPlain(inner) && inner !== this.script && this.#isFile(inner) ? [this.#takeFile(inner)] : [];
      });
  }

  #takeFile(path: string): LocalFile {
    const known = this.#taken.get(path);
    if (known !== undefined) return known;
    const { size } = statSync(join(this.folder, path));
    this.#bytes += size;
    if (this.#taken.size >= MOST_FILES) throw cannot(`there are more than ${MOST_FILES} of them`);
    if (this.#bytes > MOST_BYTES) throw cannot(`with "${path}" they are larger than ${MOST_BYTES} bytes`);
    const file = { path, content: readFileSync(join(this.folder, path)) };
    this.#taken.set(path, file);
    return file;
  }

  /** Links count where they stay in the folder: what is elsewhere was not meant to be given away with the script. */
  #isFile(path: string): boolean {
    try {
      const real = realpathSync(join(this.folder, path));
      return real.startsWith(this.#real + sep) && statSync(real).isFile();
    } catch {
      return false;
    }
  }

  /** A folder, and no link to one, within the script's. */
  #isFolder(path: string): boolean {
    try {
      const isWithin = realpathSync(join(this.folder, path)).startsWith(this.#real + sep);
      return isWithin && lstatSync(join(this.folder, path)).isDirectory();
    } catch {
      return false;
    }
  }

  #holdsModules(path: string): boolean {
    try {
      return (
        this.#isFolder(path) && readdirSync(join(this.folder, path)).some((name) => name.endsWith('.py'))
      );
    } catch {
      return false;
    }
  }
}

/** A path that leads nowhere but down, and that every system and every message can be given. */
const isPlain = (path: string): boolean =>
  path.length <= 500 &&
  !/[\p{Cc}\p{Cf}\p{Cs}\\]|\ufffd/u.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

const cannot = (what: string) =>
  new PungiError('INVALID_INPUT', `Not all that lies beside the script can go along with it: ${what}.`);
