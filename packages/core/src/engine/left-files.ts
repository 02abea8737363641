import { sha256 } from '../base/sha256.js';
import type { ArtifactContent } from '../contract/run.js';

interface Growing {
  path: string;
  size: number;
  pieces: Buffer[];
}

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
    const header = JSON.parse(payload.subarray(0, end).toString()) as Growing & { leftOut?: number };
    this.#leftOut += header.leftOut ?? 0;
    if (header.leftOut !== undefined) return;
    const last = this.#files.at(-1);
    const piece = payload.subarray(end + 1);
    if (last?.path === header.path) last.pieces.push(piece);
    else this.#files.push({ path: header.path, size: header.size, pieces: [piece] });
  }

  finish(): ArtifactContent[] {
    const sorted = this.#files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    return sorted.map(({ path, pieces }) => {
      const content = Buffer.concat(pieces);
      const mimeType =
        TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
      return { path, size: content.length, sha256: sha256(content), mimeType, content };
    });
  }

  get notes(): string[] {
    const count = this.#leftOut;
    if (count === 0) return [];
    return [
      `${count === 1 ? 'A file was' : `${count} files were`} left out: a run may leave 200 files, and ARTIFACT_MB in all.`,
    ];
  }
}
