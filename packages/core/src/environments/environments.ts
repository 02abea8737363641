import type { Advice } from '../base/advice.js';
import { badArgument, checkObject, checkOptions, checkText } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { EnvironmentLock } from '../contract/audit.js';
import type {
  CleanReport,
  EnvironmentInfo,
  PackageInfo,
  PackageReport,
  StepOptions,
} from '../contract/environment.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import { GenerationGone } from '../runtime/fork-server.js';
import { Catalog } from './catalog.js';
import { type CleanRequest, checkCleanRequest, cleanEnvironments } from './cleaning.js';
import { type EngineSide, EnvironmentEditor } from './editor.js';
import { type InlineDependencies, InlineEnvironments } from './inline.js';
import { Installer } from './installer.js';
import { DownloadedPythons, Interpreters } from './interpreters.js';
import { EnvironmentLocks } from './lock-file.js';
import { type CreateRequest, type InstallOptions, Packages } from './packages.js';
import type { LockedOptions } from './packaging/packager.js';
import { Packaging } from './packaging/packaging.js';
import { type OnEnvironmentEvent, Recorder } from './recorder.js';
import { type CloneRequest, type ImportRequest, Sharing } from './sharing.js';
import { checkName, defaultBase, Layout } from './store/layout.js';

import type { Metadata } from './store/metadata.js';
import { Store } from './store/store.js';

export interface EnvironmentsOptions {
  base?: string | undefined;
  defaultName: string;
  packageTimeoutMs: number;
  packageSources: readonly ('url' | 'path' | 'sdist')[];
  maxEnvironments: number;
  maxEnvironmentMb: number;
  uv?: string | undefined;
  /** Whether the default environment sees its interpreter's packages. */
  systemPackages?: boolean | undefined;
  /** Returns the packages that runs in an environment see. */
  packagesSeen?: ((venvName: string) => Promise<readonly PackageInfo[]>) | undefined;
  /** The advice for a missing environment; that of the library if not given. */
  advice?: Advice | undefined;
  /** Called for every change, and awaited before the caller gets its answer. */
  onEvent?: OnEnvironmentEvent | undefined;
}

export interface DeleteRequest {
  venvName: string;
  confirm: boolean;
  /** Deleting the default environment needs a second confirmation. */
  confirmDefault?: boolean | undefined;
  /** Wait until it is unused, instead of being refused. */
  wait?: boolean | undefined;
}

export type { CreateRequest, InstallOptions } from './packages.js';

/** Attempts for a run whose environment changes before it gets a worker. */
const ATTEMPTS = 3;

/** Another process may create the default environment: it is noticed after this time. */
const LOOK_AGAIN_MS = 50;

/** Named environments: on this machine, or kept by a cluster, whose workers have the folders and the tools. */
export type Environments = Omit<LocalPart, 'base' | 'packaging'> &
  Partial<Pick<LocalPart, 'base' | 'packaging'>>;
type LocalPart = Pick<LocalEnvironments, keyof LocalEnvironments>;

/** The named environments of one base folder, shared with other processes. */
export class LocalEnvironments {
  readonly packaging: Packaging;
  readonly defaultName: string;
  readonly #store: Store;
  readonly #locks: EnvironmentLocks;
  readonly #editor: EnvironmentEditor;
  readonly #catalog: Catalog;
  readonly #installer: Installer;
  readonly #inline: InlineEnvironments;
  readonly #packages: Packages;
  readonly #sharing: Sharing;
  readonly #closing = new AbortController();
  readonly #systemPackages: boolean;
  #seenBareAt = Number.NEGATIVE_INFINITY;
  /** Changes in progress. */
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: EnvironmentsOptions, engine: EngineSide, logger: Logger) {
    const { packageTimeoutMs: timeoutMs, packageSources: sources, uv, onEvent } = options;
    const { signal: closing } = this.#closing;
    this.defaultName = checkName(options.defaultName);
    const layout = new Layout(options.base ?? defaultBase());
    this.#store = new Store(layout);
    this.#locks = new EnvironmentLocks(this.#store);
    const recorder = new Recorder(this.#locks, onEvent, logger);
    const editor = new EnvironmentEditor(this.#store, engine, recorder, options, logger, closing);
    const { systemPackages = false, packagesSeen } = options;
    this.#systemPackages = systemPackages;
    const catalog = new Catalog(this.#store, editor, engine, {
      defaultName: this.defaultName,
      systemPackages,
      packagesSeen,
    });
    const python = async () => (await engine.interpreter()).path;
    this.packaging = new Packaging(
      { base: layout.base, python, uv, maxMb: options.maxEnvironmentMb, closing },
      logger,
    );
    const downloaded = new DownloadedPythons(layout.base, this.packaging, python);
    const interpreters = new Interpreters(() => engine.interpreter(), downloaded, timeoutMs, closing);
    const installer = new Installer(this.packaging, { timeoutMs, sources }, closing);
    const inline = new InlineEnvironments(layout, installer, {
      interpreterFor: (specifier, how) => interpreters.find({ specifier }, how),
      isWhole: async (name) => (await this.#store.find(name).catch(() => undefined)) !== undefined,
      make: async (wanted, contents, how) => {
        const details = { pythonVersion: wanted.interpreter.version, requested: contents.requested };
        await editor.make(wanted, contents, { action: 'provide', details }, how);
      },
    });
    const parts = { catalog, editor, installer, interpreters, recorder, inline };
    this.#packages = new Packages(parts);
    this.#sharing = new Sharing(parts);
    this.#editor = editor;
    this.#catalog = catalog;
    this.#installer = installer;
    this.#inline = inline;
  }

  get base(): string {
    return this.#store.layout.base;
  }

  /** Returns requirements in their stored form. */
  normalise(packages: readonly string[]): string[] {
    return this.#installer.parse(packages).map(({ text }) => text);
  }

  /** Whether anything was installed into the default environment. */
  hasDefault(): boolean {
    return this.#catalog.hasDefault();
  }

  /**
   * Returns the current generation of an environment, or undefined for the default one before anything was installed.
   */
  async resolve(
    venvName: string | undefined,
    options: StepOptions = {},
  ): Promise<EnvironmentRef | undefined> {
    const name = this.#catalog.nameOf(venvName);
    const isDefault = name === this.defaultName;
    if (isDefault && this.#isBare()) return undefined;
    const { ref, metadata } = await this.#editor.resolve(name);
    if (!isDefault || metadata.inherit === this.#systemPackages || !this.#store.isOwn()) return ref;
    // It was created under the other setting.
    await this.#awaited(this.#editor.showInterpreter(name, this.#systemPackages, options));
    return (await this.#editor.resolve(name)).ref;
  }

  /** Resolves an environment and uses it; resolves again if it changes before a worker is ready. */
  async in<T>(
    venvName: string | undefined,
    options: StepOptions,
    act: (ref: EnvironmentRef | undefined) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const ref = await this.resolve(venvName, options);
      try {
        return await act(ref);
      } catch (error) {
        if (!(error instanceof GenerationGone) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Records that code ran there: inspecting an environment, or parking workers for it, does not count as use. */
  noteUse(ref: EnvironmentRef | undefined): void {
    this.#store.touch(ref?.environment ?? this.defaultName, ref?.generation ?? '');
  }

  /**
   * Whether nothing was installed into the default environment. Cached for a moment, because every run waits for it.
   */
  #isBare(): boolean {
    const now = performance.now();
    if (now - this.#seenBareAt < LOOK_AGAIN_MS) return true;
    if (this.hasDefault()) return false;
    this.#seenBareAt = now;
    return true;
  }

  /** Returns the lock of a run's environment. Null if nothing was installed, or if it is private to another user. */
  async lockOf(ref: EnvironmentRef | undefined): Promise<EnvironmentLock | null> {
    if (ref !== undefined && typeof ref?.environment !== 'string')
      throw badArgument('ref', 'what `resolve` returned', ref);
    return this.#locks.of(ref);
  }

  async list(): Promise<EnvironmentInfo[]> {
    return this.#catalog.list();
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    return this.#catalog.show(venvName);
  }

  /** Returns the packages of an environment, or null if runs also see those of its interpreter. */
  async ownPackages(venvName?: string): Promise<PackageInfo[] | null> {
    return this.#catalog.ownPackages(venvName);
  }

  /** Returns the metadata of an environment, or undefined for the default one before anything was installed. */
  async metadata(venvName?: string): Promise<Metadata | undefined> {
    return this.#catalog.metadata(venvName);
  }

  async create(
    request: CreateRequest,
    options: StepOptions = {},
  ): Promise<{ environment: EnvironmentInfo; report: PackageReport | null }> {
    checkObject('request', request);
    checkOptions(options);
    const report = await this.#awaited(this.#packages.create(request, options));
    return { environment: await this.#catalog.describe(request.venvName), report };
  }

  async install(
    venvName: string | undefined,
    packages: readonly string[],
    options: InstallOptions = {},
  ): Promise<PackageReport> {
    checkOptions(options);
    return this.#awaited(this.#packages.install(venvName, packages, options));
  }

  async uninstall(
    venvName: string | undefined,
    packages: readonly string[],
    options: StepOptions = {},
  ): Promise<PackageReport> {
    checkOptions(options);
    return this.#awaited(this.#packages.uninstall(venvName, packages, options));
  }

  /** Returns the name of the environment for a script's inline dependencies. Creates it if there is none. */
  async provideInline(
    wanted: InlineDependencies,
    options: StepOptions = {},
    /** Awaited before it is created; rejects if that would be useless. */
    beforeMaking?: () => Promise<void>,
  ): Promise<string> {
    checkObject('wanted', wanted);
    checkOptions(options);
    await this.#store.prepare();
    return this.#awaited(this.#inline.provide(wanted, options, beforeMaking));
  }

  /** Returns the name of an environment with exactly the content of a lock file. Creates it if there is none. */
  async provideLocked(lock: string, options: LockedOptions = {}): Promise<string> {
    checkText('lock', lock);
    checkOptions(options);
    return this.#awaited(this.#sharing.provideLocked(lock, options));
  }

  async setDescription(
    venvName: string,
    description: string,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    checkText('description', description);
    checkOptions(options);
    const name = checkName(venvName);
    this.#catalog.refuseBareDefault(name);
    const note = { action: 'describe', details: { description } } as const;
    await this.#awaited(this.#editor.describe(name, description, note, options));
    return this.#catalog.describe(name);
  }

  async delete(request: DeleteRequest, options: StepOptions = {}): Promise<void> {
    checkObject('request', request);
    checkOptions(options);
    const { wait = false } = request;
    const name = confirmedName(request, this.defaultName);
    this.#catalog.refuseBareDefault(name);
    const note = { action: 'delete', details: {} } as const;
    await this.#awaited(this.#editor.remove(name, note, { ...options, wait }));
  }

  /** Shares every file with the original, so it is fast and needs almost no disk. */
  async clone(request: CloneRequest, options: StepOptions = {}): Promise<EnvironmentInfo> {
    checkObject('request', request);
    checkOptions(options);
    return this.#awaited(this.#sharing.clone(request, options));
  }

  /** Returns a lock file: every package with its version and the hashes of its files. */
  async export(venvName: string | undefined, options: StepOptions = {}): Promise<string> {
    checkOptions(options);
    return this.#sharing.export(venvName, options);
  }

  /** Creates an environment from a lock file: exactly its packages, each file checked against its hash. */
  async import(request: ImportRequest, options: LockedOptions = {}): Promise<EnvironmentInfo> {
    checkObject('request', request);
    checkText('lock', request.lock);
    checkOptions(options);
    return this.#awaited(this.#sharing.import(request, options));
  }

  /**
   * Removes damaged and unused environments, and leftovers of interrupted changes. Never removes one that is in use.
   */
  async clean(request: CleanRequest = {}, options: StepOptions = {}): Promise<CleanReport> {
    checkObject('request', request);
    checkOptions(options);
    const [catalog, editor, store, installer] = [this.#catalog, this.#editor, this.#store, this.#installer];
    const parts = { catalog, editor, store, installer };
    return this.#awaited(cleanEnvironments(checkCleanRequest(request), parts, options));
  }

  /** Removes unused generations. */
  async collect(): Promise<void> {
    await this.#awaited(this.#editor.collect());
  }

  /** Aborts every change in progress, and waits until all have ended. */
  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.#editor.close();
    await Promise.allSettled([this.packaging.settled(), ...this.#pending]);
  }

  #awaited<T>(work: Promise<T>): Promise<T> {
    const pending = work.finally(() => {
      this.#seenBareAt = Number.NEGATIVE_INFINITY;
      this.#pending.delete(pending);
    });
    this.#pending.add(pending);
    return pending;
  }
}

/** Returns the name of the environment. Throws INVALID_INPUT if deleting it is not confirmed. */
export function confirmedName(
  { venvName, confirm, confirmDefault = false }: DeleteRequest,
  defaultName: string,
): string {
  const name = checkName(venvName, { allowInline: true });
  if (!confirm) {
    throw new PungiError(
      'INVALID_INPUT',
      `Deleting "${name}" cannot be undone: confirm it with confirm: true.`,
    );
  }
  if (name === defaultName && !confirmDefault) {
    throw new PungiError(
      'INVALID_INPUT',
      `"${name}" is the default environment: deleting it must be confirmed a second time, with confirmDefault: true.`,
    );
  }
  return name;
}
