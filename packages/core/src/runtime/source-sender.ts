import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { packFrame } from './frames.js';

/** A regular file of this machine: its first `size` bytes. Without a path, it is standard input. */
export interface Source {
  path: string | null;
  from: string;
  size: number;
  /** The SHA-256 that it must have, if that is known. */
  expected?: string;
  /** Of what was sent, once all of it was. */
  sha256?: string;
}

const PIECE = 256 * 1024;

/** Sends files to a supervisor, piece by piece, at the pace of its worker: an empty piece after each. */
export class SourceSender {
  /** Whether everything was sent. */
  isDone = false;
  #isStopped = false;

  constructor(
    private readonly channel: {
      write(frame: Buffer, written: () => void): unknown;
      destroy(): unknown;
    },
    sources: readonly Source[],
  ) {
    if (sources.length === 0) this.isDone = true;
    // A run whose files cannot be read is lost.
    else this.#send(sources).catch(() => channel.destroy());
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #send(sources: readonly Source[]): Promise<void> {
    for (const source of sources) {
      const file = await open(source.from);
      let sha256: string;
      try {
        sha256 = await this.#sendFile(file, source.size);
      } finally {
        await file.close();
      }
      if (this.#isStopped) return;
      if (sha256 !== (source.expected ?? sha256)) throw new Error(`${source.from} has been changed`);
      source.sha256 = sha256;
      await this.#write(packFrame('input'));
    }
    this.isDone = true;
  }

  /** Returns the SHA-256 of what was sent. */
  async #sendFile(file: FileHandle, size: number): Promise<string> {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(Math.min(PIECE, size));
    for (let at = 0; at < size && !this.#isStopped; ) {
      const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, size - at), at);
      if (bytesRead === 0) break; // it has become shorter
      at += bytesRead;
      hash.update(piece.subarray(0, bytesRead));
      await this.#write(packFrame('input', piece.subarray(0, bytesRead)));
    }
    return hash.digest('hex');
  }

  #write(frame: Buffer): Promise<void> {
    return new Promise((resolve) => this.channel.write(frame, () => resolve()));
  }
}
