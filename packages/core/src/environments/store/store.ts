import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { lstat, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { checkTrusted, foldName, type Layout, makeFolder } from './layout.js';

import { METADATA_FILE, type Metadata, readMetadata } from './metadata.js';

const LAST_USE_FILE = 'last-use';
/** The minimum interval between two notes of the last use, which only people and cleaning need. */
const LAST_USE_EVERY_MS = 60_000;

interface Remembered {
  file: Stats;
  metadata: Metadata;
}

/** The folders of all environments: lists, reads, creates and removes them. */
export class Store {
  #remembered = new Map<string, Remembered>();
  #touched = new Map<string, number>();
  /** Removals and notes of use in progress. */
  #underWay = new Set<Promise<void>>();
  #isChecked = false;

  constructor(readonly layout: Layout) {}

  /** Returns the metadata of an environment, or undefined if there is none. Throws ENVIRONMENT_DAMAGED for a damaged one. */
  async find(name: string): Promise<Metadata | undefined> {
    for (;;) {
      const file = this.#metadataFile(name);
      if (file === undefined) return undefined;
      const known = this.#remembered.get(name);
      if (known && isSame(known.file, file) && this.#hasGeneration(known.metadata)) return known.metadata;
      try {
        const metadata = await this.#read(name);
        this.#remembered.set(name, { file, metadata });
        return metadata;
      } catch (error) {
        // If it was changed meanwhile, it is read again.
        const now = this.#metadataFile(name);
        if (now !== undefined && isSame(now, file)) throw error;
      }
    }
  }

  async #read(name: string): Promise<Metadata> {
    const folder = this.layout.folder(name);
    for (const path of [this.layout.base, folder]) checkTrusted(path);
    const metadata = await readMetadata(folder);
    if (!metadata || metadata.name !== name || !this.#isWhole(metadata)) throw damaged(name);
    checkTrusted(this.layout.venv(name, metadata.generation));
    return metadata;
  }

  /** Checks the interpreter and the folder of packages only: a full check would take as long as a new environment. */
  #isWhole(metadata: Metadata): boolean {
    const { name, generation } = metadata;
    const library = join(this.layout.venv(name, generation), 'lib');
    return (
      this.#hasGeneration(metadata) && existsSync(this.layout.python(name, generation)) && existsSync(library)
    );
  }

  #hasGeneration({ name, generation }: Metadata): boolean {
    const venv = this.layout.venv(name, generation);
    return lstatSync(venv, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** Whether the environments belong to this user, not to another one who shares them. */
  isOwn(): boolean {
    const about = statSync(this.layout.base, { throwIfNoEntry: false });
    return process.getuid === undefined || about === undefined || about.uid === process.getuid();
  }

  /** Whether uv has a cache. */
  hasCache(): boolean {
    return existsSync(join(this.layout.cache, 'uv'));
  }

  /** Whether environments were ever created or removed here: that creates the trash folder. */
  isUsed(): boolean {
    return existsSync(this.layout.trash);
  }

  /** Whether there is an environment, complete or damaged. */
  isThere(name: string): boolean {
    return this.#metadataFile(name) !== undefined;
  }

  #metadataFile(name: string): Stats | undefined {
    const folder = this.layout.folder(name);
    if (!this.#lookAt(folder)?.isDirectory()) return undefined;
    return statSync(join(folder, METADATA_FILE), { throwIfNoEntry: false });
  }

  /** Whether the name belongs to a file or folder that is not an environment. */
  isForeign(name: string): boolean {
    const about = this.#lookAt(this.layout.folder(name));
    return about !== undefined && !this.isThere(name) && !(about.isDirectory() && this.#isRest(name));
  }

  /** Whether it contains only generations that were leased when their environment was deleted. */
  #isRest(name: string): boolean {
    let entries: string[];
    try {
      entries = readdirSync(this.layout.folder(name));
    } catch {
      return false; // not readable, so it belongs to somebody else
    }
    const generations = generationsIn(entries);
    const isKnown = (entry: string) => entry === LAST_USE_FILE || generations.includes(stemOf(entry));
    return generations.length > 0 && entries.every(isKnown);
  }

  /** Returns undefined if nothing exists there, or if the base is a file. */
  #lookAt(path: string): Stats | undefined {
    try {
      return lstatSync(path, { throwIfNoEntry: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  /** Lists the names of all environments, complete or damaged, in order. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.layout.base).catch(() => [] as string[]);
    return entries.filter((entry) => !entry.startsWith('.') && this.isThere(entry)).sort();
  }

  /** Finds another environment whose name differs only in case. */
  async clash(name: string): Promise<string | undefined> {
    const folded = foldName(name);
    return (await this.names()).find((other) => other !== name && foldName(other) === folded);
  }

  /** Called before anything is written: creates the folders, and checks that nobody else can write to them. */
  async prepare(): Promise<void> {
    if (this.#isChecked) return;
    const { base, locks, cache, bytecode, making, trash, inline } = this.layout;
    try {
      for (const folder of [base, cache, bytecode, making, trash, inline]) await makeFolder(folder, 0o755);
      // A process that can open a lock can hold it forever.
      await makeFolder(locks, 0o700);
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? String(error);
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `The folder for environments, ${base}, cannot be written (${why}); choose another with VENVS_BASE_PATH.`,
      );
    }
    checkTrusted(base);
    this.#isChecked = true;
  }

  /** Returns an unused name for a generation. */
  newGeneration(): string {
    return `g${Date.now().toString(36)}${randomBytes(4).toString('hex')}`;
  }

  newMaking(name: string): string {
    return join(this.layout.making, `${name}.${randomBytes(6).toString('hex')}`);
  }

  /** Lists the finished generations that still exist. */
  async generations(name: string): Promise<string[]> {
    return generationsIn(await readdir(this.layout.folder(name)).catch(() => []));
  }

  /** Moves a finished environment to its place, with one rename. */
  async place(making: string, name: string): Promise<void> {
    const folder = this.layout.folder(name);
    if (!existsSync(folder)) return rename(making, folder);
    // Runs still use generations of a deleted environment of that name.
    const entries = (await readdir(making)).filter((entry) => entry !== METADATA_FILE);
    for (const entry of [...entries, METADATA_FILE]) await rename(join(making, entry), join(folder, entry));
    await this.discard(making);
  }

  /** Removes an environment, except for some generations. Only for the holder of its change lock. */
  async remove(name: string, keep: readonly string[]): Promise<void> {
    const folder = this.layout.folder(name);
    await this.#discardUnfinished(name);
    if (keep.length === 0) return this.discard(folder);
    await this.discard(join(folder, METADATA_FILE));
    await this.#discardIn(name, (entry) => keep.includes(stemOf(entry)));
  }

  /** Removes all but some generations, and what interrupted changes left. Only for the holder of its change lock. */
  async sweep(name: string, keep: readonly string[]): Promise<void> {
    const kept = [METADATA_FILE, LAST_USE_FILE];
    await this.#discardUnfinished(name);
    await this.#discardIn(name, (entry) => kept.includes(entry) || keep.includes(stemOf(entry)));
  }

  async #discardUnfinished(name: string): Promise<void> {
    for (const entry of await this.#making()) {
      if (nameOfMaking(entry) === name) await this.discard(join(this.layout.making, entry));
    }
  }

  async #discardIn(name: string, isKept: (entry: string) => boolean): Promise<void> {
    const folder = this.layout.folder(name);
    // The lock file of a generation goes last, because it shows that the generation exists.
    for (const entry of (await readdir(folder)).sort())
      if (!isKept(entry)) await this.discard(join(folder, entry));
  }

  /** Lists environments with former generations, or with leftovers of killed processes. */
  async untidy(): Promise<string[]> {
    const found = new Set((await this.#making()).map(nameOfMaking));
    for (const name of await readdir(this.layout.base).catch(() => [] as string[])) {
      if (name.startsWith('.') || this.isForeign(name)) continue;
      const generations = await this.generations(name);
      if (generations.length > (this.isThere(name) ? 1 : 0)) found.add(name);
    }
    return [...found];
  }

  #making(): Promise<string[]> {
    return readdir(this.layout.making).catch(() => []);
  }

  /** Renames it at once, and removes its files in the background. */
  async discard(path: string): Promise<void> {
    const there = await lstat(path).catch(() => undefined);
    if (!there) return;
    const trash = join(this.layout.trash, randomBytes(8).toString('hex'));
    await makeFolder(this.layout.trash, 0o755);
    await rename(path, trash);
    this.#remove(trash);
  }

  /** Resolves when all removals and notes of use are complete. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #remove(path: string): void {
    const removal = rm(path, { recursive: true, force: true, maxRetries: 3 })
      .catch(() => {}) // the next cleaning tries again
      .finally(() => this.#underWay.delete(removal));
    this.#underWay.add(removal);
  }

  /** Removes what a killed process had not finished removing. */
  async emptyTrash(): Promise<void> {
    for (const entry of await readdir(this.layout.trash).catch(() => [] as string[])) {
      this.#remove(join(this.layout.trash, entry));
    }
    await this.settled();
  }

  /**
   * Notes that an environment was used, now and then. An environment that cannot be written to can still be used.
   * The generation is empty for the default environment before anything was installed there.
   */
  touch(name: string, generation: string): void {
    const now = Date.now();
    // An environment that was deleted and created again is another one.
    const key = `${name}/${generation}`;
    if (now - (this.#touched.get(key) ?? 0) < LAST_USE_EVERY_MS) return;
    this.#touched.set(key, now);
    this.#touch(generation === '' ? this.#bareUseFile(name) : this.#useFile(name), new Date(now));
  }

  #touch(file: string, date: Date): void {
    const touching = utimes(file, date, date)
      .catch(async () => {
        await makeFolder(this.layout.base, 0o755);
        checkTrusted(this.layout.base);
        await writeFile(file, '', { flag: 'a' });
      })
      .catch(() => {})
      .finally(() => this.#underWay.delete(touching));
    this.#underWay.add(touching);
  }

  async lastUsed(name: string): Promise<Date | null> {
    return timeOf(this.#useFile(name));
  }

  /** Returns when code last ran in the default environment before anything was installed in it. */
  async lastBareUse(name: string): Promise<Date | null> {
    return timeOf(this.#bareUseFile(name));
  }

  #useFile(name: string): string {
    return join(this.layout.folder(name), LAST_USE_FILE);
  }

  /** The file for the default environment before it has a folder. */
  #bareUseFile(name: string): string {
    return join(this.layout.base, `.${LAST_USE_FILE}-${name}`);
  }
}

async function timeOf(file: string): Promise<Date | null> {
  const about = await stat(file).catch(() => undefined);
  return about?.mtime ?? null;
}

/** A generation has its lock file until it is removed. */
const generationsIn = (entries: readonly string[]): string[] =>
  entries.filter((entry) => GENERATION_LOCK.test(entry)).map(stemOf);

const GENERATION_LOCK = /^g[0-9a-z]{8,}[0-9a-f]{8}\.lock$/;

const stemOf = (entry: string): string => entry.split('.')[0]!;

const isSame = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.mtimeMs === other.mtimeMs;

const nameOfMaking = (entry: string) => entry.slice(0, entry.lastIndexOf('.'));

export function damaged(name: string): PungiError {
  return new PungiError(
    'ENVIRONMENT_DAMAGED',
    `The environment "${name}" is not whole: its folder was changed from outside, or its Python is gone. Create it again, or delete it.`,
    { venvName: name },
  );
}
