import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { writeAtomically } from '../base/files.js';
import { sha256 } from '../base/sha256.js';

/** Everything that bytecode depends on: the same source under another name or interpreter is another entry. */
export interface BytecodeKey {
  sourceSha256: string;
  filename: string;
  interpreter: string;
}

export function defaultCacheFolder(env = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pungi', 'bytecode');
}

/** Compiled scripts in memory and on disk. A file with a wrong checksum counts as absent and is rewritten. */
export class BytecodeCache {
  #memory = new Map<string, string>();

  constructor(
    private readonly folder: string,
    private readonly mostInMemory = 500,
  ) {}

  get(key: BytecodeKey): string | undefined {
    const name = nameOf(key);
    const known = this.#memory.get(name) ?? this.#read(name);
    if (known !== undefined) this.#remember(name, known);
    return known;
  }

  set(key: BytecodeKey, bytecode: string): void {
    const name = nameOf(key);
    this.#remember(name, bytecode);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeAtomically(join(this.folder, name), `${sha256(bytecode)}\n${bytecode}`, { mode: 0o600 });
    } catch {
      // A cache that cannot be written is slow, not an error.
    }
  }

  #read(name: string): string | undefined {
    const path = join(this.folder, name);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
    const [checksum, bytecode] = text.split('\n', 2);
    if (bytecode !== undefined && sha256(bytecode) === checksum) return bytecode;
    rmSync(path, { force: true });
    return undefined;
  }

  #remember(name: string, bytecode: string): void {
    this.#memory.delete(name);
    this.#memory.set(name, bytecode);
    if (this.#memory.size > this.mostInMemory) this.#memory.delete(this.#memory.keys().next().value!);
  }
}

const nameOf = (key: BytecodeKey) =>
  sha256(JSON.stringify([key.sourceSha256, key.filename, key.interpreter]));
