import { sha256 } from '../base/sha256.js';
import type { ArtifactContent } from '../contract/run.js';

/** A file of a run: its path in the work folder. */
export interface LeftFile {
  path: string;
  content: Buffer;
}

/** The header of a frame (artifacts.py): `original` is the name of one of a display. */
interface Header {
  path?: string;
  original?: string;
  leftOut?: number;
}

interface Growing {
  key: string;
  header: Header;
  pieces: Buffer[];
}

/** The most files of a run that are kept (artifacts.py). */
export const MOST_FILES = 200;

const LINE_FEED = 10;
/** By extension; other files have the type of bytes. */
const TYPES: Record<string, string> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  parquet: 'application/vnd.apache.parquet',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Collects the files that the supervisor of a run sends (artifacts.py). */
export class LeftFiles {
  readonly #files: Growing[] = [];
  #leftOut = 0;

  take(payload: Buffer): void {
    const end = payload.indexOf(LINE_FEED);
    const json = payload.subarray(0, end).toString();
    const header = JSON.parse(json) as Header;
    this.#leftOut += header.leftOut ?? 0;
    if (header.leftOut !== undefined) return;
    const last = this.#files.at(-1);
    const piece = payload.subarray(end + 1);
    if (last?.key === json) last.pieces.push(piece);
    else this.#files.push({ key: json, header, pieces: [piece] });
  }

  /** The files that the script made or changed, by path. */
  get own(): LeftFile[] {
    const own = this.#files.flatMap(({ header: { path }, pieces }) =>
      path === undefined ? [] : [{ path, content: Buffer.concat(pieces) }],
    );
    return own.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Originals of displays, by name. */
  get originals(): Map<string, Buffer> {
    return new Map(
      this.#files.flatMap(({ header: { original }, pieces }) =>
        original === undefined ? [] : [[original, Buffer.concat(pieces)]],
      ),
    );
  }

  /** `leftOut`: files that are left out in addition to those that the supervisor left out. */
  notes(leftOut: number): string[] {
    const count = this.#leftOut + leftOut;
    if (count === 0) return [];
    return [
      `${count === 1 ? 'A file was' : `${count} files were`} left out: a run may leave ${MOST_FILES} files, and ARTIFACT_MB in all. Pack many into an archive.`,
    ];
  }
}

/** Files as they are kept. */
export const describeFiles = (files: readonly LeftFile[]): ArtifactContent[] =>
  files.map(({ path, content }) => ({
    path,
    size: content.length,
    sha256: sha256(content),
    mimeType: TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream',
    content,
  }));
