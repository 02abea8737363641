import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { foldName } from '../name.js';
import type { Layout } from './layout.js';
import { METADATA_FILE, type Metadata, readMetadata } from './metadata.js';

const LAST_USE_FILE = 'last-use';
/** Last use is for people and for cleaning: no run needs to write it more often. */
const LAST_USE_EVERY_MS = 60_000;

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

interface Remembered {
  file: Stats;
  metadata: Metadata;
}

/** The folders of the environments: which there are, whole or damaged, and how they come and go. */
export class Store {
  #remembered = new Map<string, Remembered>();
  #touched = new Map<string, number>();
  #removals = new Set<Promise<void>>();
  #isChecked = false;

  constructor(readonly layout: Layout) {}

  /** The metadata of a whole environment, undefined for none. Throws ENVIRONMENT_DAMAGED for what is neither. */
  async find(name: string): Promise<Metadata | undefined> {
    const folder = this.layout.folder(name);
    const about = lstatSync(folder, { throwIfNoEntry: false });
    if (about === undefined) return undefined;
    const file = about.isDirectory()
      ? statSync(join(folder, METADATA_FILE), { throwIfNoEntry: false })
      : undefined;
    const known = this.#remembered.get(name);
    if (file && known && known.file.ino === file.ino && known.file.mtimeMs === file.mtimeMs) {
      return known.metadata;
    }
    const metadata = file && (await readMetadata(folder));
    if (!file || !metadata || metadata.name !== name || !this.#hasInterpreter(metadata)) throw damaged(name);
    this.#remembered.set(name, { file, metadata });
    return metadata;
  }

  #hasInterpreter({ name, generation }: Metadata): boolean {
    const python = this.layout.python(name, generation);
    return (
      lstatSync(this.layout.venv(name, generation), { throwIfNoEntry: false })?.isDirectory() === true &&
      existsSync(python)
    );
  }

  /** Whether something was ever kept here. */
  isUsed(): boolean {
    return existsSync(this.layout.trash);
  }

  /** Whole or damaged. */
  isThere(name: string): boolean {
    return existsSync(join(this.layout.folder(name), METADATA_FILE));
  }

  /** Something that has the name and was never an environment: it is not ours to change. */
  isForeign(name: string): boolean {
    return (
      lstatSync(this.layout.folder(name), { throwIfNoEntry: false }) !== undefined && !this.isThere(name)
    );
  }

  /** Every environment's name, in order, whole or damaged. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.layout.base).catch(() => [] as string[]);
    return entries.filter((entry) => !entry.startsWith('.') && this.isThere(entry)).sort();
  }

  /** Another environment whose name differs in case only. */
  async clash(name: string): Promise<string | undefined> {
    const folded = foldName(name);
    return (await this.names()).find((other) => other !== name && foldName(other) === folded);
  }

  /** Before anything is written: the folders are there, and nobody else can put environments into them. */
  async prepare(): Promise<void> {
    if (this.#isChecked) return;
    const { base, locks, cache, bytecode, making, trash, inline } = this.layout;
    try {
      for (const folder of [base, locks, cache, bytecode, making, trash, inline]) {
        const made = await mkdir(folder, { recursive: true, mode: 0o755 });
        // Whatever the umask: the sandbox's user must be able to read what it will run.
        if (made !== undefined) await chmod(folder, 0o755);
      }
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? String(error);
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `The folder for environments, ${base}, cannot be written (${why}); choose another with VENVS_BASE_PATH.`,
      );
    }
    await this.#checkOwner();
    this.#isChecked = true;
  }

  async #checkOwner(): Promise<void> {
    const { uid, mode } = await stat(this.layout.base);
    const own = process.getuid?.();
    if (own === undefined) return;
    const foreign = uid !== own && uid !== 0;
    if (foreign || (mode & GROUP_OR_OTHERS_WRITE && !(mode & STICKY))) {
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `The folder for environments, ${this.layout.base}, can be changed by other users: make it your own (chmod go-w), or choose another with VENVS_BASE_PATH.`,
      );
    }
  }

  /** A name for a generation, never used before. */
  newGeneration(): string {
    return `g${Date.now().toString(36)}${randomBytes(4).toString('hex')}`;
  }

  newMaking(name: string): string {
    return join(this.layout.making, `${name}.${randomBytes(6).toString('hex')}`);
  }

  /** What earlier attempts left of an environment. Only for the holder of its exclusive lock. */
  async sweep(name: string): Promise<void> {
    const current = await this.find(name).catch(() => undefined);
    const folder = this.layout.folder(name);
    for (const entry of current ? await readdir(folder) : []) {
      const isKept = entry === current!.generation || entry === METADATA_FILE || entry === LAST_USE_FILE;
      if (!isKept) await this.discard(join(folder, entry));
    }
    for (const entry of await readdir(this.layout.making).catch(() => [] as string[])) {
      if (entry.slice(0, entry.lastIndexOf('.')) === name)
        await this.discard(join(this.layout.making, entry));
    }
  }

  /** Takes its name away at once; the files follow. */
  async discard(path: string): Promise<void> {
    const there = await lstat(path).catch(() => undefined);
    if (!there) return;
    const trash = join(this.layout.trash, randomBytes(8).toString('hex'));
    await rename(path, trash);
    this.#remove(trash);
  }

  /** Resolves when everything that was discarded is gone. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  #remove(path: string): void {
    const removal = rm(path, { recursive: true, force: true, maxRetries: 3 })
      .catch(() => {}) // the next cleaning tries again
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** What a killed process had not finished removing. */
  async emptyTrash(): Promise<void> {
    for (const entry of await readdir(this.layout.trash).catch(() => [] as string[])) {
      this.#remove(join(this.layout.trash, entry));
    }
    await this.settled();
  }

  /** Notes that an environment was used, now and then. An environment that cannot be written to can still be used. */
  touch(name: string): void {
    const now = Date.now();
    if (now - (this.#touched.get(name) ?? 0) < LAST_USE_EVERY_MS) return;
    this.#touched.set(name, now);
    const file = join(this.layout.folder(name), LAST_USE_FILE);
    const date = new Date(now);
    utimes(file, date, date)
      .catch(() => writeFile(file, '', { flag: 'a' }))
      .catch(() => {});
  }

  async lastUsed(name: string): Promise<Date | null> {
    const about = await stat(join(this.layout.folder(name), LAST_USE_FILE)).catch(() => undefined);
    return about?.mtime ?? null;
  }
}

export function damaged(name: string): PungiError {
  return new PungiError(
    'ENVIRONMENT_DAMAGED',
    `The environment "${name}" is not whole: its folder was changed from outside, or its Python is gone. Create it again, or delete it.`,
    { venvName: name },
  );
}
