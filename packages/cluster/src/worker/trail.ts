import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileProblem, makeFolders, PungiError } from '@pungi/core/base';
import type { EndFacts } from '@pungi/core/engine';

interface Place {
  run: string;
  claim: string;
  front: string;
}

/** An environment that a run needed was built. */
export interface BuiltEntry {
  event: 'built';
  environment: string;
  generation: string;
}

export type TrailEntry = Place & RunEvent;

type RunEvent =
  | {
      event: 'started';
      /** The hash of the code (sha256). */
      code: string;
      /** Of a job that reads code and does not run it. */
      task?: string;
    }
  | {
      event: 'ended' | 'abandoned';
      /** What the run wrote to stdout (sha256); undefined if nothing. */
      stdout: string | undefined;
      status: number | null;
      killedFor: EndFacts['killedFor'];
    };

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * What a worker has started and ended, one JSON object in each line: evidence for runs that were reported as lost. The start of a
 * run is written before its code is handed over. The previous file is kept as FILE.1.
 */
export class Trail {
  #file: number;
  #bytes: number;
  /** Ends that could not be written yet: on a full disk, for example. */
  readonly #owed: string[] = [];
  /** The last line may have been written in part. It gets a "!" at its end, so that nobody takes it for a whole one. */
  #isTorn = true;

  /** Throws CONFIGURATION_ERROR if it cannot be written. */
  constructor(
    private readonly path: string,
    private readonly incarnation: string,
  ) {
    try {
      makeFolders(dirname(path), 0o700);
      this.#file = openSync(path, 'a', 0o600);
      this.#bytes = fstatSync(this.#file).size;
    } catch (error) {
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `The worker's trail ${path} cannot be written: ${fileProblem(error)}.`,
      );
    }
  }

  /** Throws if it cannot be written: the run must not start then. */
  start(entry: TrailEntry & { event: 'started' }): void {
    this.#settle();
    this.#write(this.#lineOf(entry));
  }

  /** Keeps what cannot be written now. */
  note(entry: BuiltEntry): void {
    this.#owed.push(this.#lineOf(entry));
    this.tryWrite();
  }

  /** Keeps what cannot be written now. */
  end(entry: TrailEntry & { event: 'ended' | 'abandoned' }): void {
    this.#owed.push(this.#lineOf(entry));
    this.tryWrite();
  }

  /** Whether it can be written. Writes what is owed. */
  tryWrite(): boolean {
    try {
      this.#settle();
      if (this.#isTorn) this.#write('');
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.tryWrite();
    closeSync(this.#file);
  }

  #lineOf(entry: TrailEntry | BuiltEntry): string {
    return `${JSON.stringify({ ...entry, incarnation: this.incarnation })}\n`;
  }

  #settle(): void {
    while (this.#owed.length > 0) {
      this.#write(this.#owed[0]!);
      this.#owed.shift();
    }
  }

  #write(line: string): void {
    if (this.#bytes > MOST_BYTES) this.#rotate();
    const bytes = Buffer.from(this.#isTorn ? `!\n${line}` : line);
    this.#isTorn = true;
    const written = writeSync(this.#file, bytes);
    this.#bytes += written;
    if (written < bytes.length) throw new PungiError('INTERNAL_ERROR', 'The disk is full.');
    this.#isTorn = false;
  }

  #rotate(): void {
    const next = `${this.path}.next`;
    const file = openSync(next, 'a', 0o600);
    renameSync(this.path, `${this.path}.1`);
    renameSync(next, this.path);
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = 0;
  }
}
