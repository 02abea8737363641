import { open } from 'node:fs/promises';
import { type Artifacts, type KeptRun, NO_UPLOAD, noFile } from './artifacts.js';
import { PungiError } from './base/errors.js';
import { fileProblem } from './base/files.js';
import type { Caller } from './contract/caller.js';

/** An upload as its owner sees it. */
export interface UploadInfo {
  /** Its handle, for `files` of a run. */
  upload: string;
  size: number;
}

/** A part of a file. Without a handle, it is the first one. */
export interface UploadPart {
  content: Buffer;
  upload?: string | undefined;
  /** Where it begins. A part that was sent before may be sent again. */
  offset?: number | undefined;
}

const PREFIX = 'upload-';
/** More than anybody needs at a time: each is a folder. */
const MOST_OF_CALLER = 100;

/**
 * Files that callers send in parts, for their runs. They are kept beside the files that runs leave, under the same quotas; a handle
 * cannot be guessed, and is bound to its caller.
 */
export class Uploads {
  constructor(
    private readonly store: Artifacts,
    /** What a run can have of disk. */
    private readonly largestBytes: number,
  ) {}

  /** Throws INVALID_INPUT if the part does not continue what is there. */
  async add({ content, upload, offset = 0 }: UploadPart, caller: Caller): Promise<UploadInfo> {
    if (upload === undefined && offset !== 0) throw noFile('The first part of an upload has offset 0.');
    try {
      if (upload !== undefined) return await this.#grow(await this.#find(upload, caller), content, offset);
      const begun = await this.store.beginUpload(caller, MOST_OF_CALLER);
      return await this.#grow(begun, content, offset).catch(async (thrown) => {
        // Nobody has its handle.
        await this.store.removeUpload(begun);
        throw thrown;
      });
    } catch (thrown) {
      throw notKept(thrown);
    }
  }

  async #grow(kept: KeptRun, content: Buffer, offset: number): Promise<UploadInfo> {
    await this.store.growUpload(kept, this.largestBytes, (file, makeRoom) =>
      append(file, content, offset, makeRoom),
    );
    return infoOf(kept);
  }

  /** Returns the file of an upload, which stays there until it is released. */
  async hold(upload: string, caller: Caller): Promise<{ path: string; release: () => void }> {
    const kept = await this.#find(upload, caller);
    return { path: this.store.pathOf(kept), release: this.store.hold(kept) };
  }

  async list(caller: Caller): Promise<UploadInfo[]> {
    return (await this.store.of(caller)).filter(({ isUpload }) => isUpload).map(infoOf);
  }

  async #find(upload: string, caller: Caller): Promise<KeptRun> {
    const own = await this.store.of(caller);
    const found = own.find(({ runId, isUpload }) => isUpload && `${PREFIX}${runId}` === upload);
    if (found === undefined) throw noFile(NO_UPLOAD);
    return found;
  }
}

const infoOf = ({ runId, bytes }: KeptRun): UploadInfo => ({ upload: `${PREFIX}${runId}`, size: bytes });

function notKept(thrown: unknown): PungiError {
  if (thrown instanceof PungiError) return thrown;
  const sentence = `Uploads cannot be kept here: ${fileProblem(thrown)}. Send small files with the call, or set ARTIFACT_DIR.`;
  return new PungiError('INTERNAL_ERROR', sentence, {}, thrown);
}

/** What is there already must be the same: a retry, or the rest of a part that was cut by a crash. */
async function append(
  path: string,
  content: Buffer,
  offset: number,
  makeRoom: (bytes: number) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    if (offset > size) throw noFile(`The upload has ${size} bytes: send what follows, with offset ${size}.`);
    const known = Buffer.alloc(Math.min(size - offset, content.length));
    await file.read(known, 0, known.length, offset);
    if (!known.equals(content.subarray(0, known.length)))
      throw noFile(`The upload has other bytes there already: it goes on at offset ${size}.`);
    const rest = content.subarray(known.length);
    if (rest.length === 0) return;
    await makeRoom(rest.length);
    for (let at = 0; at < rest.length; )
      at += (await file.write(rest, at, rest.length - at, size + at)).bytesWritten;
  } finally {
    await file.close();
  }
}
