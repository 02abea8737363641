import { closeSync, constants, fchmodSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders, readBounded, stateFolder, writeAtomically } from '@pungi/core/base';

const MOST_ENTRIES = 1000;
const LONGEST_ENTRY = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;
const PRIVATE = 0o600;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * The inputs of earlier shells, in a file that only its owner reads: one JSON text per line, because an input may have several
 * lines. A file that cannot be read or written costs the history, and nothing else.
 */
export class History {
  /** The newest first. */
  readonly entries: string[];
  #last: string | undefined;

  constructor(private readonly path = join(stateFolder(), 'shell-history')) {
    const found = readBounded(path, MOST_BYTES);
    const lines = 'bytes' in found ? found.bytes.toString().split('\n') : [];
    const kept = lines.flatMap(readEntry).slice(-MOST_ENTRIES);
    if (lines.length > 2 * MOST_ENTRIES) ignoringErrors(() => this.#replace(kept));
    this.entries = [...new Set(kept.reverse())];
    this.#last = this.entries[0];
  }

  add(text: string): void {
    if (text === this.#last || text.length > LONGEST_ENTRY) return;
    this.#last = text;
    ignoringErrors(() => {
      makeFolders(dirname(this.path), 0o700);
      const file = openSync(this.path, APPEND, PRIVATE);
      try {
        fchmodSync(file, PRIVATE);
        writeSync(file, line(text));
      } finally {
        closeSync(file);
      }
    });
  }

  #replace(kept: readonly string[]): void {
    writeAtomically(this.path, kept.map(line).join(''), { mode: PRIVATE });
  }
}

const line = (text: string) => `${JSON.stringify(text)}\n`;

function readEntry(text: string): string[] {
  try {
    const entry: unknown = JSON.parse(text);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return []; // a part of a line, or not ours
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // The history is a convenience.
  }
}
