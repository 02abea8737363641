import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeAbandoned } from './base/abandoned.js';
import { PungiError } from './base/errors.js';
import { makeFolders, stateFolder } from './base/files.js';
import { sha256 } from './base/sha256.js';
import { type Caller, ownerOf } from './contract/caller.js';
import type { Artifact } from './contract/outcome.js';
import type { ArtifactContent } from './contract/run.js';
import type { Source } from './runtime/source-sender.js';

/** Where the files that runs leave are kept. */
export const artifactFolder = ({ artifactDir }: { artifactDir?: string | undefined }): string =>
  artifactDir ?? join(stateFolder(), 'artifacts');

export interface ArtifactLimits {
  folder: string;
  /** Bytes of all callers together; one caller may have half of it. */
  totalBytes: number;
  keptMs: number;
  /** The files of a run of the caller that are on another machine, if there are some. */
  fetch?: (runId: string, caller: Caller) => Promise<ArtifactContent[] | undefined> | undefined;
}

/** The files of one run. */
export interface KeptRun {
  runId: string;
  owner: string;
  at: number;
  bytes: number;
  artifacts: Artifact[];
  /** Identifies the session of the run; not its handle. */
  session?: string;
  /** It is no run, but a file that its owner sends in parts (uploads.ts). */
  isUpload?: true;
}

/** Where a file is: with a run, or with the last run of a session that made or changed it. */
export type ArtifactPlace = { run: string } | { session: string };

/** A part of a file. */
export interface ArtifactPart extends Artifact {
  content: Buffer;
  offset: number;
}

const INDEX = 'index.json';
/** What a file takes of a quota at least: empty ones fill a disk, too. */
const SMALLEST_BYTES = 4096;
const quotaOf = (bytes: number): number => Math.max(bytes, SMALLEST_BYTES);
/** How often to look for what other servers keep in the same folder. */
const LOOK_EVERY_MS = 1000;
/** What code may put before the path of a file in its work folder. */
const WORK_FOLDER = /^(?:\/work\/|(?:\.\/)+)/;
const RUN_ID = /^[0-9a-f-]{36}$/;

/**
 * The files that runs left behind, for a time and up to a quota, on disk: they survive a restart. A run's files are in a
 * folder of their own under numbers; their names are only in its index.
 */
export class Artifacts {
  readonly #runs = new Map<string, KeptRun>();
  /** Being used, and how often: they do not make room. */
  readonly #held = new Map<string, number>();
  #loaded: Promise<void> | undefined;
  #lookedAt = 0;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(private readonly limits: ArtifactLimits) {}

  /** Resolves when the files are on disk. The oldest ones of the caller, then of all, make room. */
  async keep(
    runId: string,
    caller: Caller,
    files: readonly ArtifactContent[],
    session?: string,
  ): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + quotaOf(size), 0);
    const owner = ownerOf(caller);
    const artifacts = files.map(({ content: _, ...artifact }) => artifact);
    await this.#inTurn(async () => {
      if (!(await this.#makeRoom(owner, bytes))) throw noRoomFor(bytes);
      const of = session === undefined ? {} : { session: sha256(session) };
      const kept: KeptRun = { runId, owner, at: Date.now(), bytes, artifacts, ...of };
      const folder = this.#folderOf(runId);
      const making = `${folder}.${randomUUID()}`;
      makeFolders(making, 0o700);
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
    const newest = await this.#newest(place, caller);
    if (newest.size === 0) throw noFile(nothingOf(place));
    const found = newest.get(path) ?? newest.get(path.replace(WORK_FOLDER, ''));
    if (found === undefined) throw notLeft(path, [...newest.keys()], place);
    const [kept, number] = found;
    const artifact = kept.artifacts[number]!;
    const content = await readContent(this.limits.folder, kept, number, offset, offset + most);
    return { ...artifact, offset, content };
  }

  /** Returns the newest version of each file, where it lies until it is released. Throws INVALID_INPUT if there is none. */
  async open(
    place: ArtifactPlace,
    caller: Caller,
  ): Promise<{ files: (Source & { path: string })[]; release: () => void }> {
    const newest = [...(await this.#newest(place, caller)).values()];
    if (newest.length === 0) throw noFile(nothingOf(place));
    const files = newest.map(([kept, number]) => {
      const { path, size, sha256: expected } = kept.artifacts[number]!;
      return { path, from: join(this.#folderOf(kept.runId), `${number}`), size, expected };
    });
    const holds = newest.map(([kept]) => this.hold(kept));
    const release = () => {
      for (const letGo of holds) letGo();
    };
    return { files, release };
  }

  /** How many files of a session are kept. */
  async count(place: ArtifactPlace, caller: Caller): Promise<number> {
    return (await this.#newest(place, caller)).size;
  }

  async #newest(place: ArtifactPlace, caller: Caller) {
    await this.#look(place);
    await this.#fetch(place, caller);
    const newest = new Map<string, [kept: KeptRun, number: number]>();
    for (const kept of this.#of(place, ownerOf(caller)))
      for (const [number, { path }] of kept.artifacts.entries()) newest.set(path, [kept, number]);
    return newest;
  }

  /** What is kept of a run or a session, the oldest first. */
  #of(place: ArtifactPlace, owner: string): KeptRun[] {
    const own = this.#ownedBy(owner);
    if ('run' in place) return own.filter(({ runId, isUpload }) => runId === place.run && !isUpload);
    const session = sha256(place.session);
    return own.filter((one) => one.session === session);
  }

  /** Lists what a caller has, the oldest first. */
  async of(caller: Caller): Promise<KeptRun[]> {
    await this.#look();
    return this.#ownedBy(ownerOf(caller));
  }

  #ownedBy(owner: string): KeptRun[] {
    return [...this.#runs.values()].filter((one) => one.owner === owner && !this.#isOld(one));
  }

  /** Begins a file that grows. Beyond `most` of them, the oldest one of the caller is removed. */
  async beginUpload(caller: Caller, most: number): Promise<KeptRun> {
    const owner = ownerOf(caller);
    const kept: KeptRun = {
      runId: randomUUID(),
      owner,
      at: Date.now(),
      bytes: 0,
      artifacts: [],
      isUpload: true,
    };
    await this.#inTurn(async () => {
      const own = [...this.#runs.values()].filter((one) => one.isUpload && one.owner === owner);
      const [oldest] = own.filter(({ runId }) => !this.#held.has(runId));
      if (own.length >= most && oldest) await this.#remove(oldest);
      if (!(await this.#makeRoom(owner, quotaOf(0)))) throw noRoom();
      const folder = this.#folderOf(kept.runId);
      makeFolders(folder, 0o700);
      await writeFile(join(folder, '0'), '');
      await writeFile(join(folder, INDEX), JSON.stringify(kept));
      this.#runs.set(kept.runId, kept);
    });
    return kept;
  }

  /** Lets such a file grow, in turn with other changes. `append` asks for room before it writes. */
  async growUpload(
    kept: KeptRun,
    mostBytes: number,
    append: (file: string, makeRoom: (bytes: number) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const share = this.limits.totalBytes / 2;
    const makeRoom = async (bytes: number) => {
      if (kept.bytes + bytes > mostBytes) throw noFile(tooLarge(mostBytes, 'more than a run can have'));
      if (kept.bytes + bytes > share) throw noFile(tooLarge(share, 'half of ARTIFACT_TOTAL_MB'));
      const more = quotaOf(kept.bytes + bytes) - quotaOf(kept.bytes);
      if (!(await this.#makeRoom(kept.owner, more))) throw noRoom();
    };
    const release = this.hold(kept);
    try {
      await this.#inTurn(async () => {
        if (!this.#runs.has(kept.runId)) throw noFile(NO_UPLOAD);
        await append(this.pathOf(kept), makeRoom).finally(() => this.#measure(kept));
      });
    } finally {
      release();
    }
  }

  async removeUpload(kept: KeptRun): Promise<void> {
    await this.#inTurn(() => this.#remove(kept));
  }

  async #measure(kept: KeptRun): Promise<void> {
    kept.bytes = (await stat(this.pathOf(kept))).size;
    kept.at = Date.now();
    // The order is that of age.
    this.#runs.delete(kept.runId);
    this.#runs.set(kept.runId, kept);
  }

  /** Keeps it from making room until the returned function is called. */
  hold({ runId }: KeptRun): () => void {
    this.#held.set(runId, (this.#held.get(runId) ?? 0) + 1);
    return () => {
      const left = this.#held.get(runId)! - 1;
      if (left > 0) this.#held.set(runId, left);
      else this.#held.delete(runId);
    };
  }

  pathOf = ({ runId }: KeptRun): string => join(this.#folderOf(runId), '0');

  /** Returns whether there is room now. If nothing could make it, nothing is removed. */
  async #makeRoom(owner: string, bytes: number): Promise<boolean> {
    const { totalBytes } = this.limits;
    const all = () => [...this.#runs.values()];
    const own = () => all().filter((one) => one.owner === owner);
    const isHeld = ({ runId }: KeptRun) => this.#held.has(runId);
    const exceeds = (of: KeptRun[], most: number) =>
      of.reduce((sum, one) => sum + quotaOf(one.bytes), bytes) > most;
    if (exceeds(own().filter(isHeld), totalBytes / 2) || exceeds(all().filter(isHeld), totalBytes))
      return false;
    const removeOldest = async (of: KeptRun[]) => {
      const oldest = of.find((one) => !isHeld(one));
      if (oldest) await this.#remove(oldest);
      return oldest !== undefined;
    };
    const old = all().filter((one) => this.#isOld(one) && !isHeld(one));
    for (const kept of old) await this.#remove(kept);
    while (exceeds(own(), totalBytes / 2) && (await removeOldest(own())));
    while (exceeds(all(), totalBytes) && (await removeOldest(all())));
    return !exceeds(own(), totalBytes / 2) && !exceeds(all(), totalBytes);
  }

  async #remove({ runId }: KeptRun): Promise<void> {
    this.#runs.delete(runId);
    await rm(this.#folderOf(runId), { recursive: true, force: true });
  }

  #isOld = ({ at }: KeptRun): boolean => Date.now() - at > this.limits.keptMs;

  #folderOf = (runId: string): string => join(this.limits.folder, runId);

  /** Changes of the folder are made one after the other. */
  async #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#changes.then(() => this.#load()).then(change);
    this.#changes = done.catch(() => {});
    await done;
  }

  /** Finds what an earlier server kept. */
  #load(): Promise<void> {
    this.#loaded ??= this.#readFolder();
    return this.#loaded;
  }

  /** Also finds what another server has kept meanwhile: a run that is asked for at once, others after a moment. */
  async #look(place?: ArtifactPlace): Promise<void> {
    await this.#load();
    const isAsked =
      place !== undefined && 'run' in place && RUN_ID.test(place.run) && !this.#runs.has(place.run);
    if (!isAsked && Date.now() - this.#lookedAt < LOOK_EVERY_MS) return;
    if (!isAsked) this.#lookedAt = Date.now();
    await this.#inTurn(() => this.#readFolder(isAsked ? [place.run] : undefined));
  }

  /** Keeps what another machine has of a run, as if it had been left here. */
  async #fetch(place: ArtifactPlace, caller: Caller): Promise<void> {
    if (!('run' in place) || !RUN_ID.test(place.run) || this.#runs.has(place.run)) return;
    const files = await this.limits.fetch?.(place.run, caller);
    // Another call may have fetched it meanwhile.
    if (files !== undefined && !this.#runs.has(place.run)) await this.keep(place.run, caller, files);
  }

  /** Reads what is not known yet. Half-written folders are removed. */
  async #readFolder(only?: string[]): Promise<void> {
    const { folder } = this.limits;
    const names = only ?? (await readdir(folder).catch(() => []));
    const found: KeptRun[] = [];
    for (const name of names) {
      if (this.#runs.has(name)) continue;
      const kept = RUN_ID.test(name) ? await readGrown(join(folder, name)) : null;
      if (kept?.runId === name && !this.#isOld(kept)) found.push(kept);
      else if (RUN_ID.test(name.slice(0, 36))) await removeAbandoned(join(folder, name));
    }
    for (const kept of found.sort((a, b) => a.at - b.at)) this.#runs.set(kept.runId, kept);
  }
}

/** Lists the files of all callers, the newest run first: for the owner of the folder. Changes nothing, expired ones included. */
export async function keptRuns(folder: string): Promise<KeptRun[]> {
  const names = await readdir(folder).catch(() => []);
  const read = names.map((name) => (RUN_ID.test(name) ? readIndex(join(folder, name)) : null));
  const found = (await Promise.all(read)).filter(
    (kept, index) => kept?.runId === names[index] && Array.isArray(kept?.artifacts) && !kept.isUpload,
  );
  return (found as KeptRun[]).sort((a, b) => b.at - a.at);
}

/** Reads one of them. Throws INVALID_INPUT if the run has no such file, or it was changed on disk. */
export async function readKept(folder: string, kept: KeptRun, path: string): Promise<Buffer> {
  const number = kept.artifacts.findIndex((artifact) => artifact.path === path);
  if (number < 0)
    throw notLeft(
      path,
      kept.artifacts.map((artifact) => artifact.path),
      { run: kept.runId },
    );
  return readContent(folder, kept, number);
}

/** Reads a part of a file. For its hash all of it is read, and not held: many clients may read parts of large files. */
async function readContent(
  folder: string,
  { runId, artifacts }: KeptRun,
  number: number,
  start = 0,
  end = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const hash = createHash('sha256');
  const wanted: Buffer[] = [];
  let at = 0;
  try {
    for await (const piece of createReadStream(join(folder, runId, `${number}`)) as AsyncIterable<Buffer>) {
      hash.update(piece);
      if (at < end && at + piece.length > start)
        wanted.push(piece.subarray(Math.max(0, start - at), Math.min(piece.length, end - at)));
      at += piece.length;
    }
  } catch {
    throw gone();
  }
  if (hash.digest('hex') !== artifacts[number]!.sha256) throw gone();
  return Buffer.concat(wanted);
}

const gone = () => noFile('The file was removed or changed on disk.');

async function readIndex(folder: string): Promise<KeptRun | null> {
  try {
    return JSON.parse(await readFile(join(folder, INDEX), 'utf8')) as KeptRun;
  } catch {
    return null;
  }
}

/** The index of an upload is as old as its first part. */
async function readGrown(folder: string): Promise<KeptRun | null> {
  const kept = await readIndex(folder);
  if (!kept?.isUpload) return kept;
  const about = await stat(join(folder, '0')).catch(() => null);
  return about && { ...kept, bytes: about.size, at: about.mtimeMs };
}

const listed = (paths: readonly string[]) =>
  paths.length > 10 ? `${paths.length} files` : paths.map((path) => JSON.stringify(path)).join(', ');

const notLeft = (path: string, paths: readonly string[], place: ArtifactPlace) =>
  noFile(`The ${kindOf(place)} left no file ${JSON.stringify(path)}; it left ${listed(paths)}.`);
const kindOf = (place: ArtifactPlace) => ('run' in place ? 'run' : 'session');
const nothingOf = (place: ArtifactPlace) =>
  `No such files of this ${kindOf(place)} are kept: it left none, or they have expired.`;

export const NO_UPLOAD =
  'There is no such upload: it has expired or made room for others, or is not yours. Send it again with upload_file.';

const noRoomFor = (bytes: number) =>
  new PungiError(
    'SERVER_BUSY',
    `they are more than half of ARTIFACT_TOTAL_MB, or others are in use (${bytes} bytes).`,
  );
const noRoom = () => new PungiError('SERVER_BUSY', 'There is no room for more uploads now; try again later.');

const tooLarge = (most: number, what: string) =>
  `The upload would be larger than ${Math.floor(most / 1024 / 1024)} MB, ${what}.`;

export const noFile = (why: string) => new PungiError('INVALID_INPUT', why, { issues: [why] });
