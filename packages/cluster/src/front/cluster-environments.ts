import { type Logger, PungiError, sha256 } from '@pungi/core/base';
import {
  type CleanReport,
  callerOf,
  type EnvironmentEvent,
  type EnvironmentInfo,
  type EnvironmentLock,
  type PackageInfo,
  type PackageReport,
  type StepOptions,
} from '@pungi/core/contract';
import { type EnvironmentRef, GenerationGone } from '@pungi/core/engine';
import {
  alreadyThere,
  bareDefault,
  type CleanRequest,
  type CloneRequest,
  type CreateRequest,
  checkCleanRequest,
  checkName,
  confirmedName,
  creationTime,
  type DeleteRequest,
  describeBare,
  describeWhole,
  differsInCase,
  type Environments,
  type EnvironmentsOptions,
  foldName,
  type ImportRequest,
  type InlineDependencies,
  type InstallOptions,
  type Metadata,
  minorOf,
  notFound,
  parseLockFile,
  parseRequirements,
  reasonToClean,
  recordEvent,
  renderLockFile,
  tooMany,
} from '@pungi/core/environments';
import { type ChangeEvent, type Entry, generationOf, type Operation } from '../protocol/environments.js';
import { PROTOCOL } from '../protocol/version.js';
import { type Changed, ChangeRequests, errorOf } from './change-requests.js';
import type { Entries } from './entries.js';
import { adding, changing, withLease } from './lease.js';
import type { FrontLink } from './link.js';
import { noRuns } from './usage.js';

interface Parts {
  link: FrontLink;
  entries: Entries;
  logger: Logger;
}

type Named = Extract<Operation, { venvName: string }>;

/** Attempts for what is overtaken by a change of another front end. */
const ATTEMPTS = 3;

/**
 * The environments of a cluster. Names, metadata and locks are in a bucket, written by compare-and-set; workers build what they
 * need from the lock, and make changes for front ends, which need no Python.
 */
export class ClusterEnvironments implements Environments {
  readonly defaultName: string;
  readonly #closing = new AbortController();
  readonly #changes: ChangeRequests;
  /** Changes in progress. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(
    private readonly parts: Parts,
    private readonly options: EnvironmentsOptions,
  ) {
    this.defaultName = checkName(options.defaultName);
    this.#changes = new ChangeRequests(parts.link);
  }

  normalise(packages: readonly string[]): string[] {
    return parseRequirements(packages, this.options.packageSources).map(({ text }) => text);
  }

  hasDefault(): boolean {
    return this.#find(this.defaultName) !== undefined;
  }

  async resolve(venvName: string | undefined): Promise<EnvironmentRef | undefined> {
    const name = this.#nameOf(venvName);
    if (name === this.defaultName && !this.hasDefault()) return undefined;
    const { generation } = (await this.#existing(name)).metadata;
    return { environment: name, generation, python: '', roots: [] };
  }

  async in<T>(
    venvName: string | undefined,
    _options: StepOptions,
    act: (ref: EnvironmentRef | undefined) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const ref = await this.resolve(venvName);
      try {
        return await act(ref);
      } catch (error) {
        if (!(error instanceof GenerationGone) || attempt === ATTEMPTS) throw error;
        await this.parts.entries.fresh(this.#nameOf(venvName));
      }
    }
  }

  noteUse(ref: EnvironmentRef | undefined): void {
    this.parts.entries.noteUse(ref?.environment ?? this.defaultName);
  }

  async lockOf(ref: EnvironmentRef | undefined): Promise<EnvironmentLock | null> {
    if (ref === undefined) return null;
    const entry = this.#find(ref.environment);
    if (entry?.metadata.generation !== ref.generation) throw new GenerationGone(ref.environment);
    return lockIn(entry);
  }

  async list(): Promise<EnvironmentInfo[]> {
    await this.parts.link.workers.heard;
    const names = new Set([this.defaultName, ...this.parts.entries.names]);
    return [...names].map((name) => this.#describe(name));
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    const name = this.#nameOf(venvName);
    if (name !== this.defaultName) await this.#existing(name);
    await this.parts.link.workers.heard;
    return this.#describe(name);
  }

  async ownPackages(venvName?: string): Promise<PackageInfo[] | null> {
    const metadata = await this.metadata(venvName);
    const isDefault = this.#nameOf(venvName) === this.defaultName;
    const inherits = isDefault ? this.options.systemPackages === true : metadata?.inherit === true;
    return inherits ? null : (metadata?.packages ?? []);
  }

  async metadata(venvName?: string): Promise<Metadata | undefined> {
    const name = this.#nameOf(venvName);
    if (name === this.defaultName) return this.#find(name)?.metadata;
    return (await this.#existing(name)).metadata;
  }

  async create(
    { venvName, description, pythonVersion, packages = [] }: CreateRequest,
    options: StepOptions = {},
  ): Promise<{ environment: EnvironmentInfo; report: PackageReport | null }> {
    const name = checkName(venvName);
    const operation: Operation = {
      kind: 'create',
      venvName: name,
      packages: this.normalise(packages),
      ...(description !== undefined && { description }),
      ...(pythonVersion !== undefined && { pythonVersion }),
    };
    const report = await this.#make(operation, options);
    return { environment: this.#describe(name), report };
  }

  async install(
    venvName: string | undefined,
    packages: readonly string[],
    { upgrade = false, ...options }: InstallOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    const asked = this.normalise(packages);
    return (await this.#make({ kind: 'install', venvName: name, packages: asked, upgrade }, options))!;
  }

  async uninstall(
    venvName: string | undefined,
    packages: readonly string[],
    options: StepOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    this.#refuseBareDefault(name);
    const asked = this.normalise(packages);
    return (await this.#make({ kind: 'uninstall', venvName: name, packages: asked }, options))!;
  }

  async import(
    { venvName, lock, description }: ImportRequest,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    parseLockFile(lock);
    const about = description === undefined ? {} : { description };
    await this.#make({ kind: 'import', venvName: name, lock, ...about }, options);
    return this.#describe(name);
  }

  async provideInline(
    { dependencies, requiresPython }: InlineDependencies,
    options: StepOptions = {},
    beforeMaking?: () => Promise<void>,
  ): Promise<string> {
    const { entries } = this.parts;
    const requested = this.normalise(dependencies).sort();
    const key = sha256(JSON.stringify([requested, requiresPython])).slice(0, 20);
    const known = entries.inline(key);
    if (known !== undefined) return known;
    await beforeMaking?.();
    options.onStep?.(`Preparing an environment for ${requested.join(', ') || 'the script'}.`);
    const operation: Operation = { kind: 'inline', dependencies: requested, requiresPython };
    return this.#awaited(options, async (steps) => {
      const name = await this.#provide(operation, steps);
      await entries.noteInline(key, name);
      return name;
    });
  }

  async provideLocked(lock: string, options: StepOptions = {}): Promise<string> {
    parseLockFile(lock);
    const name = inlineName(lock);
    if (this.#find(name)) return name;
    return this.#awaited(options, (steps) => this.#provide({ kind: 'locked', lock }, steps));
  }

  async setDescription(
    venvName: string,
    description: string,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    this.#refuseBareDefault(name);
    await this.#changing(name, options, async () => {
      const { entry, revision } = await this.#stored(name);
      const after = { ...entry, metadata: { ...entry.metadata, description } };
      await this.parts.entries.write(name, after, revision);
      await this.#record(name, { action: 'describe', details: { description } }, after, options);
    });
    return this.#describe(name);
  }

  async delete(request: DeleteRequest, options: StepOptions = {}): Promise<void> {
    const name = confirmedName(request, this.defaultName);
    this.#refuseBareDefault(name);
    await this.#existing(name);
    await this.#remove(name, { action: 'delete', details: {} }, options, request.wait === true);
  }

  async clone({ from, to, description }: CloneRequest, options: StepOptions = {}): Promise<EnvironmentInfo> {
    const source = checkName(from, { allowInline: true });
    const name = checkName(to);
    this.#refuseBareDefault(source);
    if (foldName(source) === foldName(name))
      throw new PungiError('ENVIRONMENT_EXISTS', 'A clone needs a name of its own.', { venvName: name });
    await this.#changing(name, options, async () => {
      const { metadata, ...rest } = await this.#existing(source);
      const about = { name, inline: false, created: creationTime() };
      const copy = { ...metadata, ...about, description: description ?? metadata.description };
      const made = { ...rest, metadata: copy };
      const { revision } = await this.#absent(name);
      await this.#add(made, revision);
      await this.#record(name, { action: 'clone', details: { from: source } }, made, options);
    });
    return this.#describe(name);
  }

  async export(venvName: string | undefined): Promise<string> {
    const name = this.#nameOf(venvName);
    if (name === this.defaultName && !this.hasDefault()) {
      const { pythonVersion } = this.#describe(name);
      return renderLockFile([], { pythonVersion: minorOf(pythonVersion), requested: [] });
    }
    const { lock, metadata } = await this.#existing(name);
    const { description, python, requested } = metadata;
    const about = { description, pythonVersion: minorOf(python.version), requested };
    return renderLockFile(parseLockFile(lock).pins, about);
  }

  async clean(request: CleanRequest = {}, options: StepOptions = {}): Promise<CleanReport> {
    const { dryRun = false } = checkCleanRequest(request);
    const removed: CleanReport['removed'] = [];
    for (const info of await this.list()) {
      const { venvName, sizeMb, sharedMb } = info;
      const reason = reasonToClean(info, request);
      if (reason === undefined) continue;
      if (!dryRun && !(await this.#removeUnused(venvName, reason, options))) continue;
      removed.push({ venvName, reason, freedMb: Math.max(0, sizeMb - sharedMb) });
    }
    return { removed, dryRun };
  }

  /** Workers remove what they do not need. */
  async collect(): Promise<void> {}

  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await Promise.allSettled(this.#pending);
  }

  #nameOf(venvName: string | undefined): string {
    return venvName === undefined ? this.defaultName : checkName(venvName, { allowInline: true });
  }

  #find(name: string): Entry | undefined {
    return this.parts.entries.find(name);
  }

  /** Another front end may just have made it. */
  async #existing(name: string): Promise<Entry> {
    return this.#find(name) ?? (await this.#stored(name)).entry;
  }

  /** What the cluster has now. Throws ENVIRONMENT_NOT_FOUND. */
  async #stored(name: string): Promise<{ entry: Entry; revision: number }> {
    const { entry, revision } = await this.parts.entries.fresh(name);
    if (entry === undefined) throw notFound(name, this.parts.entries.names, this.options.advice);
    return { entry, revision };
  }

  /** Throws ENVIRONMENT_EXISTS. */
  async #absent(name: string): Promise<{ entry: undefined; revision: number }> {
    const { entries } = this.parts;
    const { entry, revision } = await entries.fresh(name);
    if (entry) throw alreadyThere(entry.metadata);
    const clash = entries.names.find((other) => foldName(other) === foldName(name));
    if (clash !== undefined) throw differsInCase(name, clash);
    return { entry, revision };
  }

  #refuseBareDefault(name: string): void {
    if (name === this.defaultName && !this.hasDefault()) throw bareDefault(name);
  }

  #describe(name: string): EnvironmentInfo {
    const { entries, link } = this.parts;
    const entry = this.#find(name);
    const isDefault = name === this.defaultName;
    const { at: lastUsed } = entries.use(name);
    if (entry === undefined)
      return describeBare(name, {
        state: 'ready',
        isDefault,
        pythonVersion: link.workers.all[0]?.interpreter.version ?? '',
        description: this.options.systemPackages ? "the interpreter's own packages" : 'nothing installed yet',
        lastUsed: lastUsed?.toISOString() ?? null,
        warmOn: [],
      });
    const { metadata } = entry;
    const holders = link.workers.all.filter(({ generations }) => generations.includes(metadata.generation));
    const warmOn = holders.map(({ worker }) => worker).sort();
    const isWarm = warmOn.length > 0;
    return { ...describeWhole(metadata, { isDefault, isWarm, path: null, lastUsed }), warmOn };
  }

  /** Lets a worker make the change, and stores the result if nobody else has changed it meanwhile. */
  async #make(operation: Named, options: StepOptions): Promise<PackageReport | null> {
    const { venvName: name } = operation;
    return this.#changing(name, options, async (steps) => {
      for (let attempt = 1; ; attempt += 1) {
        const { entry, revision } = await this.#before(operation).catch(async (error: unknown) => {
          await this.#recordFailure(operation, PungiError.from(error), options);
          throw error;
        });
        const from = entry && { name, generation: entry.metadata.generation };
        const answer = await this.#changes.make(operation, from, steps);
        if (answer.kind === 'failed') {
          if (answer.isGone && attempt < ATTEMPTS) continue;
          for (const event of answer.events) await this.#record(name, event, undefined, options);
          throw errorOf(answer);
        }
        const after = entryOf(name, answer, entry);
        steps.signal?.throwIfAborted();
        if (entry === undefined) await this.#add(after, revision);
        else await this.parts.entries.write(name, after, revision);
        for (const event of answer.events) await this.#record(name, event, after, options);
        return answer.report;
      }
    });
  }

  /** The state that is changed. Throws why the operation cannot begin. */
  async #before({ kind, venvName }: Named): Promise<{ entry: Entry | undefined; revision: number }> {
    const isNew = kind === 'create' || kind === 'import';
    const isFilled = kind === 'install' && venvName === this.defaultName;
    if (!isNew && !isFilled) return this.#stored(venvName);
    const found = isNew ? await this.#absent(venvName) : await this.parts.entries.fresh(venvName);
    if (found.entry === undefined) this.#refuseTooMany();
    return found;
  }

  /** Attempts to change packages are recorded, too. */
  async #recordFailure(operation: Named, { code }: PungiError, options: StepOptions): Promise<void> {
    if (!('packages' in operation) || operation.packages.length === 0) return;
    const action = operation.kind === 'uninstall' ? 'uninstall' : 'install';
    const { packages: requested } = operation;
    const event: ChangeEvent = { action, requested, added: [], removed: [], error: code };
    await this.#record(operation.venvName, event, undefined, options);
  }

  /** Returns the name of an environment with what a worker has made. Two with the same content are one. */
  async #provide(operation: Operation, options: StepOptions): Promise<string> {
    const answer = await this.#changes.make(operation, undefined, options);
    if (answer.kind === 'failed') throw errorOf(answer);
    const name = inlineName(answer.lock);
    const { entry, revision } = await this.parts.entries.fresh(name);
    if (entry) return name;
    const made = entryOf(name, answer, undefined, true);
    try {
      await this.#add(made, revision);
    } catch (error) {
      if ((await this.parts.entries.fresh(name)).entry) return name;
      throw error;
    }
    const { python, requested } = made.metadata;
    const details = { pythonVersion: python.version, requested };
    await this.#record(name, { action: 'provide', details }, made, options);
    return name;
  }

  /** One front end at a time adds an environment, so that two do not both see room for one more. */
  async #add(entry: Entry, revision: number): Promise<void> {
    const { entries } = this.parts;
    const { name, inline } = entry.metadata;
    await withLease(entries.bucket, adding(name), { wait: true, signal: this.#closing.signal }, async () => {
      if (inline && this.#isFull) await this.#evict();
      this.#refuseTooMany();
      await entries.write(name, entry, revision);
    });
  }

  get #isFull(): boolean {
    return this.parts.entries.names.length >= this.options.maxEnvironments;
  }

  #refuseTooMany(): void {
    if (this.#isFull) throw tooMany(this.options.maxEnvironments);
  }

  /** Environments of scripts are made by themselves, and make room by themselves: the least recently used first. */
  async #evict(): Promise<void> {
    const { entries } = this.parts;
    const found = entries.names.filter((name) => this.#find(name)?.metadata.inline);
    found.sort((one, other) => entries.use(one).order - entries.use(other).order);
    for (const name of found)
      if (await this.#removeUnused(name, 'made room for the environment of a run', {})) return;
  }

  /** Returns whether it could be removed: an environment in use stays. */
  async #removeUnused(name: string, reason: string, options: StepOptions): Promise<boolean> {
    try {
      await this.#remove(name, { action: 'clean', details: { reason } }, options, false);
      return true;
    } catch (error) {
      const { code } = PungiError.from(error);
      if (code === 'ENVIRONMENT_NOT_FOUND' || code === 'ENVIRONMENT_IN_USE') return false;
      throw error;
    }
  }

  async #remove(name: string, event: ChangeEvent, options: StepOptions, wait: boolean): Promise<void> {
    const { link, entries } = this.parts;
    await this.#changing(
      name,
      options,
      async (steps) => {
        await noRuns(link, name, { ...steps, wait });
        const { entry, revision } = await this.#stored(name);
        await entries.write(name, undefined, revision);
        await this.#record(name, event, entry, options);
      },
      wait,
    );
  }

  /** One change of an environment at a time, in the whole cluster. */
  #changing<T>(
    name: string,
    options: StepOptions,
    work: (steps: StepOptions) => Promise<T>,
    wait = true,
  ): Promise<T> {
    return this.#awaited(options, (steps) => {
      const { signal, onStep } = steps;
      const onWait = () => onStep?.(`Waiting for another change of the environment "${name}" to end.`);
      return withLease(this.parts.entries.bucket, changing(name), { wait, signal, onWait }, (held) =>
        work({ ...steps, signal: held }),
      );
    });
  }

  #awaited<T>({ signal, ...options }: StepOptions, work: (steps: StepOptions) => Promise<T>): Promise<T> {
    const closing = this.#closing.signal;
    const steps = { ...options, signal: signal ? AbortSignal.any([signal, closing]) : closing };
    const pending = work(steps).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    return pending;
  }

  async #record(
    environment: string,
    event: ChangeEvent,
    entry: Entry | undefined,
    { caller }: StepOptions,
  ): Promise<void> {
    const lock = entry ? lockIn(entry) : null;
    const whole = { ...event, environment, lock, caller: callerOf(caller) } as EnvironmentEvent;
    await recordEvent(whole, this.options.onEvent, this.parts.logger);
  }
}

const lockIn = ({ lock }: Entry): EnvironmentLock => ({ sha256: sha256(lock), text: lock });

const inlineName = (lock: string) => `inline-${sha256(lock).slice(0, 20)}`;

/** What a worker has made, as the cluster keeps it. Throws INVALID_INPUT if its lock is none. */
function entryOf(
  name: string,
  { metadata, lock }: Changed,
  before: Entry | undefined,
  inline = false,
): Entry {
  parseLockFile(lock);
  const own = {
    name,
    inline,
    generation: generationOf(lock),
    created: before?.metadata.created ?? metadata.created,
  };
  const python = { path: '', version: metadata.python.version };
  return { v: PROTOCOL, metadata: { ...metadata, ...own, python, parent: null }, lock };
}
