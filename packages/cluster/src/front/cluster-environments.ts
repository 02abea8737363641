import { type Logger, PungiError, sha256 } from '@pungi/core/base';
import type {
  CleanReport,
  EnvironmentInfo,
  EnvironmentLock,
  PackageInfo,
  PackageReport,
  StepOptions,
} from '@pungi/core/contract';
import { type EnvironmentRef, GenerationGone } from '@pungi/core/engine';
import {
  type CleanRequest,
  type CloneRequest,
  type CreateRequest,
  checkCleanRequest,
  checkName,
  confirmedName,
  creationTime,
  type DeleteRequest,
  type Environments,
  type EnvironmentsOptions,
  foldName,
  type ImportRequest,
  type InlineDependencies,
  type InstallOptions,
  type Metadata,
  minorOf,
  parseLockFile,
  parseRequirements,
  reasonToClean,
  renderLockFile,
} from '@pungi/core/environments';
import { lockIn, type Operation } from '../protocol/environments.js';
import { Catalog } from './catalog.js';
import { ChangeRequests } from './change-requests.js';
import type { Entries } from './entries.js';
import type { FrontLink } from './link.js';
import { ATTEMPTS, inlineName, Maker } from './maker.js';
import { OngoingChanges } from './ongoing-changes.js';
import { Room } from './room.js';

interface Parts {
  link: FrontLink;
  entries: Entries;
  logger: Logger;
}

/**
 * The environments of a cluster. Names, metadata and locks are in a bucket, written by compare-and-set; workers build what they
 * need from the lock, and make changes for front ends, which need no Python.
 */
export class ClusterEnvironments implements Environments {
  readonly defaultName: string;
  readonly #catalog: Catalog;
  readonly #changes: OngoingChanges;
  readonly #room: Room;
  readonly #maker: Maker;

  constructor(
    private readonly parts: Parts,
    private readonly options: EnvironmentsOptions,
  ) {
    const { link, entries, logger } = parts;
    const catalog = new Catalog(entries, link.workers, options);
    const changes = new OngoingChanges(entries.bucket, options.onEvent, logger);
    const room = new Room({ link, entries, catalog, changes, most: options.maxEnvironments });
    const requests = new ChangeRequests(link);
    this.defaultName = catalog.defaultName;
    this.#maker = new Maker({ entries, catalog, changes, requests, room });
    [this.#catalog, this.#changes, this.#room] = [catalog, changes, room];
  }

  normalise(packages: readonly string[]): string[] {
    return parseRequirements(packages, this.options.packageSources).map(({ text }) => text);
  }

  hasDefault(): boolean {
    return this.#catalog.hasDefault();
  }

  async resolve(venvName: string | undefined): Promise<EnvironmentRef | undefined> {
    const name = this.#catalog.nameOf(venvName);
    if (name === this.defaultName && !this.hasDefault()) return undefined;
    const { generation } = (await this.#catalog.existing(name)).metadata;
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
        await this.parts.entries.fresh(this.#catalog.nameOf(venvName));
      }
    }
  }

  noteUse(ref: EnvironmentRef | undefined): void {
    this.parts.entries.noteUse(ref?.environment ?? this.defaultName);
  }

  async lockOf(ref: EnvironmentRef | undefined): Promise<EnvironmentLock | null> {
    if (ref === undefined) return null;
    const entry = this.#catalog.find(ref.environment);
    if (entry?.metadata.generation !== ref.generation) throw new GenerationGone(ref.environment);
    return lockIn(entry);
  }

  async list(): Promise<EnvironmentInfo[]> {
    await this.parts.link.workers.heard;
    const names = new Set([this.defaultName, ...this.parts.entries.names]);
    return [...names].map((name) => this.#catalog.describe(name));
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    const name = this.#catalog.nameOf(venvName);
    if (name !== this.defaultName) await this.#catalog.existing(name);
    await this.parts.link.workers.heard;
    return this.#catalog.describe(name);
  }

  async ownPackages(venvName?: string): Promise<PackageInfo[] | null> {
    const metadata = await this.metadata(venvName);
    const isDefault = this.#catalog.nameOf(venvName) === this.defaultName;
    const inherits = isDefault ? this.options.systemPackages === true : metadata?.inherit === true;
    return inherits ? null : (metadata?.packages ?? []);
  }

  async metadata(venvName?: string): Promise<Metadata | undefined> {
    const name = this.#catalog.nameOf(venvName);
    if (name === this.defaultName) return this.#catalog.find(name)?.metadata;
    return (await this.#catalog.existing(name)).metadata;
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
    const report = await this.#maker.make(operation, options);
    return { environment: this.#catalog.describe(name), report };
  }

  async install(
    venvName: string | undefined,
    packages: readonly string[],
    { upgrade = false, ...options }: InstallOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    const asked = this.normalise(packages);
    return (await this.#maker.make({ kind: 'install', venvName: name, packages: asked, upgrade }, options))!;
  }

  async uninstall(
    venvName: string | undefined,
    packages: readonly string[],
    options: StepOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    this.#catalog.refuseBareDefault(name);
    const asked = this.normalise(packages);
    return (await this.#maker.make({ kind: 'uninstall', venvName: name, packages: asked }, options))!;
  }

  async import(
    { venvName, lock, description }: ImportRequest,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    parseLockFile(lock);
    const about = description === undefined ? {} : { description };
    await this.#maker.make({ kind: 'import', venvName: name, lock, ...about }, options);
    return this.#catalog.describe(name);
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
    return this.#changes.begin(options, async (steps) => {
      const name = await this.#maker.provide(operation, steps);
      await entries.noteInline(key, name);
      return name;
    });
  }

  async provideLocked(lock: string, options: StepOptions = {}): Promise<string> {
    parseLockFile(lock);
    const name = inlineName(lock);
    if (this.#catalog.find(name)) return name;
    return this.#changes.begin(options, (steps) => this.#maker.provide({ kind: 'locked', lock }, steps));
  }

  async setDescription(
    venvName: string,
    description: string,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    this.#catalog.refuseBareDefault(name);
    await this.#changes.change(name, options, async () => {
      const { entry, revision } = await this.#catalog.stored(name);
      const after = { ...entry, metadata: { ...entry.metadata, description } };
      await this.parts.entries.write(name, after, revision);
      await this.#changes.record(name, { action: 'describe', details: { description } }, after, options);
    });
    return this.#catalog.describe(name);
  }

  async delete(request: DeleteRequest, options: StepOptions = {}): Promise<void> {
    const name = confirmedName(request, this.defaultName);
    this.#catalog.refuseBareDefault(name);
    await this.#catalog.existing(name);
    await this.#room.remove(name, { action: 'delete', details: {} }, options, request.wait === true);
  }

  async clone({ from, to, description }: CloneRequest, options: StepOptions = {}): Promise<EnvironmentInfo> {
    const source = checkName(from, { allowInline: true });
    const name = checkName(to);
    this.#catalog.refuseBareDefault(source);
    if (foldName(source) === foldName(name))
      throw new PungiError('ENVIRONMENT_EXISTS', 'A clone needs a name of its own.', { venvName: name });
    await this.#changes.change(name, options, async () => {
      const { metadata, ...rest } = await this.#catalog.existing(source);
      const about = { name, inline: false, created: creationTime() };
      const copy = { ...metadata, ...about, description: description ?? metadata.description };
      const made = { ...rest, metadata: copy };
      const { revision } = await this.#catalog.absent(name);
      await this.#room.add(made, revision);
      await this.#changes.record(name, { action: 'clone', details: { from: source } }, made, options);
    });
    return this.#catalog.describe(name);
  }

  async export(venvName: string | undefined): Promise<string> {
    const name = this.#catalog.nameOf(venvName);
    if (name === this.defaultName && !this.hasDefault()) {
      const { pythonVersion } = this.#catalog.describe(name);
      return renderLockFile([], { pythonVersion: minorOf(pythonVersion), requested: [] });
    }
    const { lock, metadata } = await this.#catalog.existing(name);
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
      if (!dryRun && !(await this.#room.removeUnused(venvName, reason, options))) continue;
      removed.push({ venvName, reason, freedMb: Math.max(0, sizeMb - sharedMb) });
    }
    return { removed, dryRun };
  }

  /** Workers remove what they do not need. */
  async collect(): Promise<void> {}

  close(): Promise<void> {
    return this.#changes.close();
  }
}
