import { writeFileSync } from 'node:fs';
import { chmod, constants, link, lstat, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeAbandoned } from '../base/abandoned.js';
import { PungiError } from '../base/errors.js';
import { draftOf, makeFolders, stateFolder } from '../base/files.js';
import type { Config } from '../config/schema.js';
import { Outcome } from '../contract/outcome.js';

export interface StoreLimits {
  folder: string;
  /** Bytes of all callers together; one caller may have half of it. */
  totalBytes: number;
  keptMs: number;
}

/** The folder of the settings, or that of the user. */
export const backgroundFolder = ({ backgroundDir }: Pick<Config, 'backgroundDir'>): string =>
  backgroundDir ?? join(stateFolder(), 'runs');

/** Written before a handle is returned; never changed. */
const Accepted = z.object({
  run: z.string(),
  owner: z.string(),
  /** The server that runs it. */
  server: z.string().regex(/^[0-9a-f-]{36}$/),
  acceptedAt: z.string(),
  /** How its caller asked to be answered. */
  replyDetail: z.enum(['short', 'full']).optional(),
});
export type Accepted = z.infer<typeof Accepted>;

export interface StoredRun extends Accepted {
  hasStarted: boolean;
  /** null until it has ended. */
  endedMs: number | null;
  bytes: number;
}

const RUN = /^run-[\w-]{22}$/;
export const isHandle = (text: string): boolean => RUN.test(text);

/** What a small file takes of the disk. */
const ENTRY_BYTES = 8 * 1024;
const MOST_ACCEPTED_BYTES = 16 * 1024;
/** Runs that are kept, besides their size. */
const MOST_OF_CALLER = 500;
const MOST_OF_ALL = 5000;

/**
 * Background runs on disk. A run has up to three files, each written whole and never changed: `.json` once it is accepted,
 * `.started`, and `.ended` with its outcome. What has no `.ended` has not ended, or is lost with its server.
 */
export class RunStore {
  readonly #accepted = new Map<string, Accepted>();
  readonly #ended = new Map<string, { endedMs: number; bytes: number }>();

  constructor(private readonly limits: StoreLimits) {}

  get folder(): string {
    return this.limits.folder;
  }

  /** Makes the folder, private to its owner. */
  async open(): Promise<void> {
    const { folder } = this;
    makeFolders(folder, 0o700);
    const about = await lstat(folder);
    const uid = process.getuid?.();
    if (!about.isDirectory() || (uid !== undefined && about.uid !== uid))
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `The folder for background runs, ${folder}, is not a folder of this user: set BACKGROUND_DIR to another one.`,
      );
    if ((about.mode & 0o077) !== 0) await chmod(folder, 0o700);
  }

  /**
   * Resolves when the run outlasts this process. The caller's oldest outcomes make room, then those of whoever holds the most.
   * Throws SERVER_BUSY.
   */
  async accept(accepted: Accepted): Promise<void> {
    if (!(await this.#makeRoom(accepted.owner, ENTRY_BYTES)))
      throw new PungiError(
        'SERVER_BUSY',
        'There is no room for the outcome of another background run (BACKGROUND_MB): run it without background.',
      );
    await writeNew(this.#path(accepted.run, 'json'), JSON.stringify(accepted));
    this.#accepted.set(accepted.run, accepted);
  }

  /** At once, so that a run whose code ran is never said not to have started. */
  markStarted(run: string): void {
    try {
      writeFileSync(this.#path(run, 'started'), '', { mode: 0o600 });
    } catch {
      // On a full disk, whatever is wrong shows when the outcome is stored.
    }
  }

  /** Resolves when the outcome outlasts this process. The first outcome of a run stays. */
  async end(run: string, owner: string, outcome: Outcome): Promise<void> {
    const whole = JSON.stringify(outcome);
    const small = whole.length > ENTRY_BYTES ? JSON.stringify(withoutDisplays(outcome)) : whole;
    const fits = await this.#makeRoom(owner, Buffer.byteLength(whole));
    await writeNew(this.#path(run, 'ended'), fits ? whole : small);
  }

  async find(run: string): Promise<StoredRun | undefined> {
    if (!isHandle(run)) return undefined;
    const accepted = await this.#readAccepted(run);
    if (accepted === undefined) return undefined;
    const ended = await this.#readEnd(run);
    const hasStarted = await exists(this.#path(run, 'started'));
    const found = { ...accepted, hasStarted, endedMs: null, bytes: ENTRY_BYTES, ...ended };
    return this.#isOld(found) ? undefined : found;
  }

  /** Returns undefined for what is no outcome. */
  async outcomeOf(run: string): Promise<Outcome | undefined> {
    const text = await readOwn(this.#path(run, 'ended'), this.limits.totalBytes);
    return text === undefined ? undefined : parseAs(Outcome, text);
  }

  /** The oldest first. What was left half-written is removed. */
  async all(): Promise<StoredRun[]> {
    const names = new Set(await readdir(this.folder));
    // Another server may have removed some.
    for (const run of this.#accepted.keys())
      if (!names.has(`${run}.json`)) {
        this.#accepted.delete(run);
        this.#ended.delete(run);
      }
    const found: StoredRun[] = [];
    for (const name of names) {
      const run = name.slice(0, 26);
      if (!isHandle(run)) continue;
      if (!names.has(`${run}.json`) || name.endsWith('.tmp')) await removeAbandoned(join(this.folder, name));
      else if (name === `${run}.json`) {
        const accepted = this.#accepted.get(run) ?? (await this.#readAccepted(run));
        const ended = names.has(`${run}.ended`) ? await this.#readEnd(run) : undefined;
        const hasStarted = names.has(`${run}.started`);
        if (accepted) found.push({ ...accepted, hasStarted, endedMs: null, bytes: ENTRY_BYTES, ...ended });
      }
    }
    return found.sort((a, b) => (a.acceptedAt < b.acceptedAt ? -1 : 1));
  }

  /** Returns whether there is room for so many bytes more. */
  async #makeRoom(owner: string, bytes: number): Promise<boolean> {
    const { totalBytes } = this.limits;
    const half = totalBytes / 2;
    const all = await this.all();
    const gone = new Set(all.filter((one) => this.#isOld(one)));
    const own = all.filter((one) => one.owner === owner && !gone.has(one));
    const ended = own.filter(({ endedMs }) => endedMs !== null);
    while (ended.length > 0 && (own.length >= MOST_OF_CALLER || sizeOf(own) + bytes > half)) {
      const oldest = ended.shift()!;
      own.splice(own.indexOf(oldest), 1);
      gone.add(oldest);
    }
    const left = all.filter((one) => !gone.has(one));
    const fits = sizeOf(own) + bytes <= half;
    const others = fits ? makingRoom(left, { owner, bytes, totalBytes }) : undefined;
    for (const { run } of [...gone, ...(others ?? [])]) await this.#remove(run);
    return others !== undefined;
  }

  /** The acceptance goes first: without its end, a run would seem to be lost. */
  async #remove(run: string): Promise<void> {
    this.#accepted.delete(run);
    this.#ended.delete(run);
    for (const kind of ['json', 'ended', 'started'] as const)
      await rm(this.#path(run, kind), { force: true, recursive: true });
  }

  async #readAccepted(run: string): Promise<Accepted | undefined> {
    const known = this.#accepted.get(run);
    if (known) return (await exists(this.#path(run, 'json'))) ? known : undefined;
    const text = await readOwn(this.#path(run, 'json'), MOST_ACCEPTED_BYTES);
    const accepted = text === undefined ? undefined : parseAs(Accepted, text);
    if (accepted?.run !== run) return undefined;
    this.#accepted.set(run, accepted);
    return accepted;
  }

  async #readEnd(run: string): Promise<{ endedMs: number; bytes: number } | undefined> {
    const known = this.#ended.get(run);
    if (known) return known;
    const about = await stat(this.#path(run, 'ended')).catch(() => null);
    if (about === null) return undefined;
    const end = { endedMs: about.mtimeMs, bytes: about.size + ENTRY_BYTES };
    this.#ended.set(run, end);
    return end;
  }

  #isOld = ({ endedMs }: StoredRun): boolean => endedMs !== null && Date.now() - endedMs > this.limits.keptMs;

  #path = (run: string, kind: 'json' | 'started' | 'ended'): string => join(this.folder, `${run}.${kind}`);
}

const sizeOf = (runs: Iterable<StoredRun>): number => [...runs].reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the runs whose removal makes room for all; undefined if there are not enough that have ended. */
function makingRoom(
  runs: readonly StoredRun[],
  { owner, bytes, totalBytes }: { owner: string; bytes: number; totalBytes: number },
): StoredRun[] | undefined {
  const left = new Set(runs);
  const removed: StoredRun[] = [];
  while (left.size >= MOST_OF_ALL || sizeOf(left) + bytes > totalBytes) {
    const oldest =
      left.size >= MOST_OF_ALL
        ? oldestOfLargest(left, owner, 1, () => 1)
        : oldestOfLargest(left, owner, bytes, (one) => one.bytes);
    if (oldest === undefined) return undefined;
    left.delete(oldest);
    removed.push(oldest);
  }
  return removed;
}

/**
 * Returns the oldest ended run of the caller that holds the most, so that nobody fills the store for others; undefined if this
 * caller would then hold more. `runs`: the oldest first.
 */
function oldestOfLargest(
  runs: Iterable<StoredRun>,
  caller: string,
  more: number,
  amountOf: (run: StoredRun) => number,
): StoredRun | undefined {
  const held = new Map([[caller, more]]);
  for (const run of runs) held.set(run.owner, (held.get(run.owner) ?? 0) + amountOf(run));
  const heldBy = ({ owner }: StoredRun) => held.get(owner)!;
  let largest: StoredRun | undefined;
  for (const run of runs)
    if (run.endedMs !== null && (largest === undefined || heldBy(run) > heldBy(largest))) largest = run;
  return largest !== undefined && heldBy(largest) >= held.get(caller)! ? largest : undefined;
}

/** The outcome without what takes most of its room. */
export function withoutDisplays({ displays: _, value, ...outcome }: Outcome): Outcome {
  const { content: __, ...plain } = value ?? { type: '', repr: '' };
  const note = 'Pictures and other displays were not kept: there was no room (BACKGROUND_MB).';
  return { ...outcome, value: value && plain, notes: [...(outcome.notes ?? []), note] };
}

/** Writes a file whole, so that it outlasts a power loss. A file that is there stays as it is. */
async function writeNew(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const folder = await open(join(path, '..'), 'r');
  await folder.sync().finally(() => folder.close());
}

/** Reads a regular file; undefined if it is none, or too large. It may have been put there by anybody. */
async function readOwn(path: string, most: number): Promise<string | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch(() => null);
  if (file === null) return undefined;
  try {
    const about = await file.stat();
    return about.isFile() && about.size <= most ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

function parseAs<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
