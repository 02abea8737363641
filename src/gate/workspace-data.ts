import { lstat, opendir, readlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { WorkspaceFolder } from '../contract/profile.js';
import { DATA_FOLDER } from './input-files.js';

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
