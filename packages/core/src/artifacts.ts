import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from './base/errors.js';
import { sha256 } from './base/sha256.js';
import { type Caller, ownerOf } from './contract/caller.js';
import type { Artifact } from './contract/outcome.js';
import type { ArtifactContent } from './contract/run.js';

export interface ArtifactLimits {
  folder: string;
  /** Bytes of all callers together; one caller may have half of it. */
  totalBytes: number;
  keptMs: number;
}

interface Kept {
  runId: string;
  owner: string;
  at: number;
  bytes: number;
  artifacts: Artifact[];
  /** Identifies the session of the run; not its handle. */
  session?: string;
}

/** Where a file is: with a run, or with the last run of a session that made or changed it. */
export type ArtifactPlace = { run: string } | { session: string };

/** A part of a file. */
export interface ArtifactPart extends Artifact {
  content: Buffer;
  offset: number;
}

const INDEX = 'index.json';
const RUN_ID = /^[0-9a-f-]{36}$/;

/**
 * The files that runs left behind, for a time and up to a quota, on disk: they survive a restart. A run's files are in a
 * folder of their own under numbers; their names are only in its index.
 */
export class Artifacts {
  readonly #runs = new Map<string, Kept>();
  #loaded: Promise<void> | undefined;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(private readonly limits: ArtifactLimits) {}

  /** Resolves when the files are on disk. The oldest ones of the caller, then of all, make room. */
  async keep(
    runId: string,
    caller: Caller,
    files: readonly ArtifactContent[],
    session?: string,
  ): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const owner = ownerOf(caller);
    const artifacts = files.map(({ content: _, ...artifact }) => artifact);
    await this.#inTurn(async () => {
      await this.#makeRoom(owner, bytes);
      const of = session === undefined ? {} : { session: sha256(session) };
      const kept: Kept = { runId, owner, at: Date.now(), bytes, artifacts, ...of };
      const folder = this.#folderOf(runId);
      const making = `${folder}.${randomUUID()}`;
      await mkdir(making, { recursive: true, mode: 0o700 });
      await Promise.all(files.map(({ content }, number) => writeFile(join(making, `${number}`), content)));
      await writeFile(join(making, INDEX), JSON.stringify(kept));
      await rename(making, folder);
      this.#runs.set(runId, kept);
    });
  }

  /** Throws INVALID_INPUT if the caller has no such file. */
  async read(
    place: ArtifactPlace,
    path: string,
    caller: Caller,
    { offset = 0, most = Number.POSITIVE_INFINITY }: { offset?: number; most?: number } = {},
  ): Promise<ArtifactPart> {
    await this.#load();
    const kept = this.#find(place, path, ownerOf(caller));
    const number = kept.artifacts.findIndex((artifact) => artifact.path === path);
    if (number < 0)
      throw noFile(`The run left no file ${JSON.stringify(path)}; it left ${listed(kept.artifacts)}.`);
    const artifact = kept.artifacts[number]!;
    const content = await readFile(join(this.#folderOf(kept.runId), `${number}`)).catch(() => null);
    if (content === null || sha256(content) !== artifact.sha256)
      throw noFile('The file was removed or changed on disk.');
    return { ...artifact, offset, content: content.subarray(offset, offset + most) };
  }

  #find(place: ArtifactPlace, path: string, owner: string): Kept {
    const own = [...this.#runs.values()].filter((one) => one.owner === owner && !this.#isOld(one));
    const session = 'session' in place ? sha256(place.session) : undefined;
    const found =
      'run' in place
        ? own.find(({ runId }) => runId === place.run)
        : own.findLast(
            (one) => one.session === session && one.artifacts.some((artifact) => artifact.path === path),
          );
    if (found === undefined) {
      const what = 'run' in place ? 'run' : 'session';
      throw noFile(`No such files of this ${what} are kept: it left none, or they have expired.`);
    }
    return found;
  }

  async #makeRoom(owner: string, bytes: number): Promise<void> {
    const { totalBytes } = this.limits;
    for (const kept of [...this.#runs.values()].filter((one) => this.#isOld(one))) await this.#remove(kept);
    const used = (of: Kept[]) => of.reduce((sum, one) => sum + one.bytes, 0);
    const own = () => [...this.#runs.values()].filter((one) => one.owner === owner);
    while (own().length > 0 && used(own()) + bytes > totalBytes / 2) await this.#remove(own()[0]!);
    while (this.#runs.size > 0 && used([...this.#runs.values()]) + bytes > totalBytes)
      await this.#remove(this.#runs.values().next().value!);
  }

  async #remove({ runId }: Kept): Promise<void> {
    this.#runs.delete(runId);
    await rm(this.#folderOf(runId), { recursive: true, force: true });
  }

  #isOld = ({ at }: Kept): boolean => Date.now() - at > this.limits.keptMs;

  #folderOf = (runId: string): string => join(this.limits.folder, runId);

  /** Changes of the folder are made one after the other. */
  async #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#changes.then(() => this.#load()).then(change);
    this.#changes = done.catch(() => {});
    await done;
  }

  /** Finds what an earlier server kept. Half-written folders are removed. */
  #load(): Promise<void> {
    this.#loaded ??= this.#readFolder();
    return this.#loaded;
  }

  async #readFolder(): Promise<void> {
    const { folder } = this.limits;
    const names = await readdir(folder).catch(() => []);
    const found: Kept[] = [];
    for (const name of names) {
      const kept = RUN_ID.test(name) ? await readIndex(join(folder, name)) : null;
      if (kept?.runId === name && !this.#isOld(kept)) found.push(kept);
      else if (RUN_ID.test(name.slice(0, 36))) await removeOld(join(folder, name));
    }
    for (const kept of found.sort((a, b) => a.at - b.at)) this.#runs.set(kept.runId, kept);
  }
}

async function readIndex(folder: string): Promise<Kept | null> {
  try {
    return JSON.parse(await readFile(join(folder, INDEX), 'utf8')) as Kept;
  } catch {
    return null;
  }
}

const ABANDONED_MS = 60_000;

/** Another server may be writing a folder right now. */
async function removeOld(folder: string): Promise<void> {
  const about = await stat(folder).catch(() => null);
  if (about !== null && Date.now() - about.mtimeMs > ABANDONED_MS)
    await rm(folder, { recursive: true, force: true });
}

const listed = (artifacts: readonly Artifact[]) =>
  artifacts.length > 10
    ? `${artifacts.length} files`
    : artifacts.map(({ path }) => JSON.stringify(path)).join(', ');

const noFile = (why: string) => new PungiError('INVALID_INPUT', why, { issues: [why] });
