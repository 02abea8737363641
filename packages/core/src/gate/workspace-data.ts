import { lstat, opendir, readlink } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Limits } from '../contract/limits.js';
import type { WorkspaceFolder } from '../contract/profile.js';
import type { RunRequest } from '../contract/run.js';
import type { Job } from '../runtime/job.js';
import type { Source } from '../runtime/source-sender.js';

const MAX_FILES = 1000;
/** Counts entries of every kind, so that a folder full of links or folders is bounded, too. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 8;

type DataKind = 'csv' | 'parquet' | 'excel' | 'json' | 'other';

/** A file as code sees it in `available_data`. */
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
   * Changes when a file (path, size, times) or a link (target) changes, or a folder is added or removed. null if not
   * everything was read.
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

/**
 * Lists the files of a profile's folders. Links are neither listed nor followed, and unreadable files are left out.
 */
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
  /** Links and folders: not listed, but part of the fingerprint. */
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
        else this.sawAll = false; // a pipe or a device has no stable content
      }
    } catch {
      this.sawAll = false; // missing or unreadable
    }
  }

  async #note(path: string, shown: string, name: string): Promise<void> {
    const stat = await lstat(path).catch(() => undefined);
    if (stat === undefined) {
      this.sawAll = false; // removed meanwhile
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

/** The folder of a profile's data in the work folder. */
const DATA_FOLDER = 'data';

/** Checks that the files fit into the work folder and that no file lies below another file. */
export function checkFits(
  { files = [], stdin = '', inputData = [] }: RunRequest,
  { diskMb }: Limits,
  sources: readonly Source[] = [],
): void {
  // Most runs have no input but their code.
  if (files.length + sources.length + inputData.length === 0 && stdin === '') return;
  const sent = files.filter(({ upload }) => upload === undefined);
  const all = [...sent, ...sources].map(({ path }) => path).filter((path) => path !== null);
  const paths = new Set(all);
  const below = findBelow(paths);
  if (below !== undefined)
    throw new PungiError('INVALID_INPUT', `The file "${below}" lies below another file.`);
  if (paths.size < all.length) throw new PungiError('INVALID_INPUT', 'Two files have the same path.');
  const bytes = [...files.map(({ text, base64 }) => text ?? base64 ?? ''), stdin, ...inputData].reduce(
    (sum, text) => sum + Buffer.byteLength(text) + 1,
    sources.reduce((sum, { size }) => sum + size, 0),
  );
  if (bytes > diskMb * 1024 * 1024) {
    throw new PungiError(
      'INVALID_INPUT',
      `The files and the input are larger than the ${diskMb} MB that the run may write.`,
    );
  }
}

/** Returns the script's file name in the work folder. A default name yields to a file of the request. */
export function scriptName({ filename, file, files = [] }: RunRequest): string {
  if (filename !== undefined || file !== undefined) return filename ?? basename(file!);
  return files.some(({ path }) => path === 'main.py') ? '__main__.py' : 'main.py';
}

/** Checks that no file conflicts with the script, which lies in the work folder, too. */
export function checkScriptConflict(filename: string, code: string, files: Job['files']): void {
  const taking = files.find(({ path }) => path === filename || path.startsWith(`${filename}/`));
  const isScript =
    taking?.path === filename && Buffer.from(code).equals(Buffer.from(taking.base64, 'base64'));
  if (taking === undefined || isScript) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${taking.path}" conflicts with the script "${filename}". Rename one of them.`,
  );
}

/** Checks that no file conflicts with the folders below data/. */
export function checkDataConflict(
  files: readonly { path: string }[],
  data: readonly WorkspaceFolder[],
): void {
  if (data.length === 0) return;
  const taken = new Set(data.map(({ name }) => `${DATA_FOLDER}/${name}`));
  const inside = files.find(({ path }) => path === DATA_FOLDER || taken.has(path.split('/', 2).join('/')));
  if (inside === undefined) return;
  throw new PungiError(
    'INVALID_INPUT',
    `The file "${inside.path}" conflicts with the data that runs find there, in ${[...taken].join(', ')}. Use another path.`,
  );
}

/** Returns a path that lies below another one. Sorted by "path/", a path directly precedes those below it. */
function findBelow(paths: ReadonlySet<string>): string | undefined {
  const ordered = Array.from(paths, (path) => `${path}/`).sort();
  return ordered.find((path, index) => index > 0 && path.startsWith(ordered[index - 1]!))?.slice(0, -1);
}
