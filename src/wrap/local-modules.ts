import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Remark } from '../contract/wrap.js';

/** A file beside a script, by its path from the script's folder, with "/" between its parts. */
export interface LocalFile {
  path: string;
  content: Buffer;
}

interface LocalModules {
  files: LocalFile[];
  /** What the script and these files import from elsewhere. */
  imports: string[];
  remarks: Remark[];
}

/** The modules that code imports, without the standard library's. */
type ImportsOf = (code: string, filename: string) => Promise<readonly string[]>;

const MOST_FILES = 200;
const MOST_BYTES = 4 * 1024 * 1024;
const DEEPEST = 10;

/** Finds what a script imports from its own folder, and what that imports, in the way in which Python would. */
export async function localModules(
  folder: string,
  script: string,
  imports: readonly string[],
  importsOf: ImportsOf,
): Promise<LocalModules> {
  const beside = new Beside(folder, script);
  const elsewhere = new Set<string>();
  const remarks: Remark[] = [];
  const seen = new Set<string>();
  const waiting = [...imports];
  for (let module = waiting.shift(); module !== undefined; module = waiting.shift()) {
    const [name = ''] = module.split('.', 1);
    if (seen.has(name)) continue;
    seen.add(name);
    const found = beside.take(name);
    if (found.length === 0) elsewhere.add(name);
    for (const { path, content } of found.filter(({ path }) => path.endsWith('.py'))) {
      try {
        waiting.push(...(await importsOf(new TextDecoder().decode(content), path.split('/').at(-1)!)));
      } catch (error) {
        const { code, message } = PungiError.from(error);
        if (code !== 'PYTHON_ERROR') throw error;
        remarks.push({ line: 1, name: path, reason: `does not compile: ${message}`, isSkipped: false });
      }
    }
  }
  return { files: beside.files, imports: [...elsewhere], remarks };
}

/** The folder of a script. */
class Beside {
  readonly files: LocalFile[] = [];
  #bytes = 0;
  #real: string;

  constructor(
    private readonly folder: string,
    private readonly script: string,
  ) {
    // A folder that is not there yet holds nothing.
    this.#real = existsSync(folder) ? realpathSync(folder) : folder;
  }

  /** The files of a module: a package wins over a file of its name, as it does for Python. */
  take(name: string): LocalFile[] {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) return [];
    const file = `${name}.py`;
    if (this.#isFile(`${name}/__init__.py`)) return this.#takeFolder(name, 0);
    if (this.#isFile(file)) return file === this.script ? [] : [this.#takeFile(file)];
    return this.#holdsModules(name) ? this.#takeFolder(name, 0) : [];
  }

  /** What is not code goes along: packages read it from beside themselves. */
  #takeFolder(path: string, depth: number): LocalFile[] {
    if (depth > DEEPEST) throw tooMuch(`folders of "${path}" are nested more than ${DEEPEST} deep`);
    return readdirSync(join(this.folder, path))
      .sort()
      .filter((name) => !name.startsWith('.') && name !== '__pycache__' && !name.endsWith('.pyc'))
      .map((name) => `${path}/${name}`)
      .flatMap((inner) => {
        const isFolder = lstatSync(join(this.folder, inner)).isDirectory();
        if (isFolder) return this.#takeFolder(inner, depth + 1);
        return this.#isFile(inner) ? [this.#takeFile(inner)] : [];
      });
  }

  #takeFile(path: string): LocalFile {
    const { size } = statSync(join(this.folder, path));
    this.#bytes += size;
    if (this.files.length >= MOST_FILES) throw tooMuch(`there are more than ${MOST_FILES} of them`);
    if (this.#bytes > MOST_BYTES) throw tooMuch(`with "${path}" they are larger than ${MOST_BYTES} bytes`);
    const file = { path, content: readFileSync(join(this.folder, path)) };
    this.files.push(file);
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

  #holdsModules(path: string): boolean {
    try {
      const isFolder = lstatSync(join(this.folder, path)).isDirectory();
      return isFolder && readdirSync(join(this.folder, path)).some((name) => name.endsWith('.py'));
    } catch {
      return false;
    }
  }
}

const tooMuch = (what: string) =>
  new PungiError(
    'INVALID_INPUT',
    `The files beside the script that it imports cannot go with it: ${what}. Make a package of them and install it.`,
  );
