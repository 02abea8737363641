import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  discardDraft,
  draftOf,
  fileProblem,
  makeFolders,
  PungiError,
  printable,
  settleDraft,
} from '@pungi/core/base';

/** More saved files than this are counted, not listed. */
const MOST_LISTED = 50;

/**
 * The folder of --out. What is saved in it comes from foreign code: no name leads out of the folder, no link in it is followed, and
 * a file that cannot be saved is reported.
 */
export class OutFolder {
  readonly #taken = new Set<string>();
  readonly #lines: string[] = [];

  /** Creates the folder. Throws INVALID_INPUT if it cannot be: before the run, whose files would be lost. */
  constructor(private readonly folder: string) {
    try {
      makeFolders(folder);
    } catch (error) {
      throw new PungiError('INVALID_INPUT', `The folder of --out cannot be created: ${fileProblem(error)}.`);
    }
  }

  /** Saves a file, and replaces one that is there. Returns false, and saves nothing, if this run has saved one of that name. */
  save(path: string, content: string | Buffer): boolean {
    if (this.#taken.has(path)) return false;
    this.#taken.add(path);
    const target = join(this.folder, path);
    try {
      const wasThere = this.#replace(path, target, content);
      this.#lines.push(`${wasThere ? 'replaced' : 'saved'} ${target}`);
    } catch (error) {
      this.#lines.push(`could not save ${target}: ${fileProblem(error)}`);
    }
    return true;
  }

  report(): void {
    const more = this.#lines.length - MOST_LISTED;
    const lines = more > 0 ? [...this.#lines.slice(0, MOST_LISTED), `… and ${more} more`] : this.#lines;
    for (const line of lines) process.stderr.write(`pungi: ${printable(line).replaceAll('\n', ' ')}\n`);
  }

  #replace(path: string, target: string, content: string | Buffer): boolean {
    if (!isPlain(path)) throw new Error('its name leads out of the folder');
    for (const folder of foldersOf(path)) makeFolder(join(this.folder, folder));
    const there = lstatSync(target, { throwIfNoEntry: false });
    // A short name in the same folder: that of the file may be as long as names can be.
    const draft = draftOf(join(dirname(target), '.pungi'));
    try {
      writeFileSync(draft, content, { flag: 'wx' });
      settleDraft(draft, target, false);
    } finally {
      discardDraft(draft);
    }
    return there !== undefined;
  }
}

const isPlain = (path: string) =>
  !path.includes('\0') && !path.includes('\\') && path.split('/').every((part) => !/^\.{0,2}$/.test(part));

/** Returns `a` and `a/b` for `a/b/c`. */
const foldersOf = (path: string) =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

function makeFolder(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) mkdirSync(path);
  else if (there.isSymbolicLink()) throw new Error(`${path} is a link, which is not followed`);
}
