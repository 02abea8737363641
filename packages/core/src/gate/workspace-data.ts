import { lstat, opendir, readlink } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Limits } from '../contract/limits.js';
import type { WorkspaceFolder } from '../contract/profile.js';
import type { RunRequest } from '../contract/run.js';
import type { Job } from '../runtime/supervisor.js';

const MAX_FILES = 1000;
/** Of every kind, so that a folder full of links or folders ends, too. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 8;

type DataKind = 'csv' | 'parquet' | 'excel' | 'json' | 'other';

/** One file as code finds it in `available_data`. */
export interface AvailableFile {
  name: string;
  /** Relative to the work folder, so that code can open it. */
  path: string;
  bytes: number;
  kind: DataKind;
}

export interface WorkspaceData {
  files: readonly AvailableFile[];
  /**
   * Changes when a file does (its path, size and times), or a link (where it leads), or a folder comes or goes.
   * null where not everything was seen.
   */
  fingerprint: readonly string[] | null;
}

const KINDS: Record<string, DataKind> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.parquet': 'parquet',
  '.pq': 'parquet',
  '.xlsx': 'excel',
  '.xlsm': 'excel',
  '.xls': 'excel',
  '.json': 'json',
  '.jsonl': 'json',
  '.ndjson': 'json',
};

/** The files of a profile's folders. Links are neither listed nor followed, and what cannot be read is left out. */
export async function listWorkspace(folders: readonly WorkspaceFolder[]): Promise<WorkspaceData> {
  const walk = new Walk();
  for (const { name, path } of folders) await walk.enter(path, `${DATA_FOLDER}/${name}`, 0);
  const found = walk.found.sort((one, other) => (one.file.path < other.file.path ? -1 : 1));
  return {
    files: found.map(({ file }) => file),
    fingerprint: walk.sawAll ? [...found.map(({ mark }) => mark), ...walk.others.sort()] : null,
  };
}

class Walk {
  readonly found: { file: AvailableFile; mark: string }[] = [];
  /** What is not listed, and yet decides what code finds: links and folders. */
  readonly others: string[] = [];
  sawAll = true;
  #entries = 0;

  async enter(folder: string, shownAs: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) {
      this.sawAll = false;
      return;
    }
    try {
      for await (const entry of await opendir(folder)) {
        this.#entries += 1;
        if (this.found.length >= MAX_FILES || this.#entries > MAX_ENTRIES) {
          this.sawAll = false;
          return;
        }
        const path = join(folder, entry.name);
        const shown = `${shownAs}/${entry.name}`;
        if (entry.isDirectory()) {
          this.others.push(`${shown}/`);
          await this.enter(path, shown, depth + 1);
        } else if (entry.isFile()) await this.#note(path, shown, entry.name);
        else if (entry.isSymbolicLink()) this.others.push(`${shown}\0${await readlink(path)}`);
        else this.sawAll = false; // a pipe or a device gives something else at every reading
      }
    } catch {
      this.sawAll = false; // missing, or not to be read
    }
  }

  async #note(path: string, shown: string, name: string): Promise<void> {
    const stat = await lstat(path).catch(() => undefined);
    if (stat === undefined) {
      this.sawAll = false; // gone meanwhile
      return;
    }
    const { size, mtimeMs, ctimeMs } = stat;
    const kind = KINDS[extname(name).toLowerCase()] ?? 'other';
    this.found.push({
      file: { name, path: shown, bytes: size, kind },
      mark: `${shown}\0${size}\0${mtimeMs}\0${ctimeMs}`,
    });
  }
}

/** Where the folders of a profile appear in the work folder. */
const DATA_FOLDER = 'data';

/** What is handed over must find room in the work folder, and no file can lie below another file. */
export function checkFits({ files = [], stdin = '', inputData = [] }: RunRequest, { diskMb }: Limits): void {
  const paths = new Set(files.map(({ path }) => path));
  const below = findBelow(paths);
  if (below !== undefined)
    throw new PungiError('INVALID_INPUT', `The file "${below}" lies below another file.`);
  if (paths.size < files.length) throw new PungiError('INVALID_INPUT', 'Two files have the same path.');
  const bytes = [...files.map(({ text, base64 }) => text ?? base64 ?? ''), stdin, ...inputData].reduce(
    (sum, text) => sum + Buffer.byteLength(text) + 1,
    0,
  );
  if (bytes > diskMb * 1024 * 1024) {
    throw new PungiError(
      'INVALID_INPUT',
      `The files and the input are larger than the ${diskMb} MB that the run may write.`,
    );
  }
}

/** The name of the script's file in the work folder: that of a script without a name yields to a file of the request. */
export function scriptName({ filename, file, files = [] }: RunRequest): string {
  if (filename !== undefined || file !== undefined) return filename ?? basename(file!);
  return files.some(({ path }) => path === 'main.py') ? '__main__.py' : 'main.py';
}

/** The script lies in the work folder, too. */
export function checkBesideScript(filename: string, code: string, files: Job['files']): void {
  const taking = files.find(({ path }) => path === filename || path.startsWith(`${filename}/`));
  const isScript =
    taking?.path === filename && Buffer.from(code).equals(Buffer.from(taking.base64, 'base64'));
  if (taking === undefined || isScript) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${taking.path}" takes the place of the script, which is called "${filename}". Give one of them another name.`,
  );
}

/** Where a profile has folders with data, their place is taken. */
export function checkBesideData({ files = [] }: RunRequest, profile: string): void {
  const inside = files.find(({ path }) => path.split('/', 1)[0] === DATA_FOLDER);
  if (inside === undefined) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${inside.path}" cannot be handed over: below "${DATA_FOLDER}" are the folders of the profile "${profile}". Give it another path.`,
  );
}

/** A path that lies below another one. In the order of "path/", what lies below a path follows it at once. */
function findBelow(paths: ReadonlySet<string>): string | undefined {
  const ordered = Array.from(paths, (path) => `${path}/`).sort();
  return ordered.find((path, index) => index > 0 && path.startsWith(ordered[index - 1]!))?.slice(0, -1);
}
