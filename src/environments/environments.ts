import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { CleanReport, EnvironmentInfo, PackageReport, StepOptions } from '../contract/environment.js';
import type { Home } from '../engine/home.js';
import { type Interpreter, listInterpreters } from '../sandbox/interpreter.js';
import { type CleanRequest, checkCleanRequest, reasonToClean } from './cleaning.js';
import { DownloadedPythons } from './downloaded-python.js';
import { describeBare, describeWhole } from './environment-info.js';
import { type InlineDependencies, InlineEnvironments } from './inline/inline-environments.js';
import { Installer } from './installer.js';
import { parseLockFile, renderLockFile } from './lock-file.js';
import { checkName } from './name.js';
import { Packaging } from './packaging/packaging.js';
import { choosePython, parsePythonVersion, type WantedPython } from './requirements/python-versions.js';
import { defaultBase, Layout } from './store/layout.js';
import type { Metadata } from './store/metadata.js';
import { Store } from './store/store.js';
import { findDependents } from './store/venv-tree.js';
import { type EngineSide, Workshop } from './workshop.js';

export interface EnvironmentsOptions {
  base?: string | undefined;
  defaultName: string;
  packageTimeoutMs: number;
  packageSources: readonly ('url' | 'path' | 'sdist')[];
  maxEnvironments: number;
  maxEnvironmentMb: number;
  uv?: string | undefined;
}

export interface CreateRequest {
  venvName: string;
  description?: string | undefined;
  pythonVersion?: string | undefined;
  packages?: readonly string[] | undefined;
}

export interface InstallOptions extends StepOptions {
  /** The newest versions of what is named, also where an older one is there and would do. */
  upgrade?: boolean | undefined;
}

export interface DeleteRequest {
  venvName: string;
  confirm: boolean;
  /** The default environment asks twice. */
  confirmDefault?: boolean | undefined;
  /** Wait until it is not in use, instead of being refused. */
  wait?: boolean | undefined;
}

/** A use of an environment by a run, until it is released. */
export interface Use {
  /** Undefined: the interpreter itself. */
  home: Home | undefined;
  release(): void;
}

/** The named environments of one base folder, shared with other processes. */
export class Environments {
  readonly packaging: Packaging;
  readonly defaultName: string;
  readonly #engine: EngineSide;
  readonly #store: Store;
  readonly #workshop: Workshop;
  readonly #installer: Installer;
  readonly #inline: InlineEnvironments;
  readonly #pythons: DownloadedPythons;
  readonly #packageTimeoutMs: number;
  readonly #closing = new AbortController();

  constructor(options: EnvironmentsOptions, engine: EngineSide, logger: Logger) {
    this.defaultName = checkName(options.defaultName);
    this.#engine = engine;
    const layout = new Layout(options.base ?? defaultBase());
    this.#store = new Store(layout);
    this.#workshop = new Workshop(this.#store, engine, options, logger);
    const python = async () => (await engine.interpreter()).path;
    this.packaging = new Packaging({ base: layout.base, python, uv: options.uv }, logger);
    this.#pythons = new DownloadedPythons(layout.base, this.packaging, python);
    this.#packageTimeoutMs = options.packageTimeoutMs;
    const { packageTimeoutMs: timeoutMs, packageSources: sources } = options;
    this.#installer = new Installer(this.packaging, { timeoutMs, sources }, this.#closing.signal);
    this.#inline = new InlineEnvironments(layout, this.#installer, {
      interpreterFor: (specifier, how) => this.#interpreterFor({ specifier }, how),
      isWhole: async (name) => (await this.#store.find(name).catch(() => undefined)) !== undefined,
      make: async (wanted, contents, how) => {
        await this.#workshop.make(wanted, contents, how);
      },
    });
  }

  get base(): string {
    return this.#store.layout.base;
  }

  /** Requirements as they are kept. */
  normalise(packages: readonly string[]): string[] {
    return this.#installer.parse(packages).map(({ text }) => text);
  }

  /** Whether the default environment is more than the interpreter itself. */
  hasDefault(): boolean {
    return this.#store.isThere(this.defaultName);
  }

  /** For a run: nothing of the environment changes until it is released. */
  async use(venvName: string | undefined, options: StepOptions = {}): Promise<Use> {
    const name = this.#nameOf(venvName);
    if (name === this.defaultName && !this.hasDefault()) return { home: undefined, release: () => {} };
    return this.#workshop.use(name, options);
  }

  async list(): Promise<EnvironmentInfo[]> {
    const names = new Set([this.defaultName, ...(await this.#store.names())]);
    return Promise.all([...names].map((name) => this.#describe(name)));
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    const name = this.#nameOf(venvName);
    if (name !== this.defaultName && !this.#store.isThere(name)) throw await this.#workshop.notFound(name);
    return this.#describe(name);
  }

  /** What is known of an environment; undefined while the default one is the interpreter itself. */
  async metadata(venvName?: string): Promise<Metadata | undefined> {
    const name = this.#nameOf(venvName);
    const metadata = await this.#store.find(name);
    if (!metadata && name !== this.defaultName) throw await this.#workshop.notFound(name);
    return metadata;
  }

  async #describe(name: string): Promise<EnvironmentInfo> {
    const isDefault = name === this.defaultName;
    const isWarm = this.#engine.isWarm(name);
    try {
      const metadata = await this.#store.find(name);
      if (metadata) {
        const path = this.#store.layout.venv(name, metadata.generation);
        const lastUsed = await this.#store.lastUsed(name);
        return describeWhole(metadata, { isDefault, isWarm, path, lastUsed });
      }
    } catch (error) {
      const isDamaged = error instanceof PungiError && error.code === 'ENVIRONMENT_DAMAGED';
      const state = isDamaged ? 'damaged' : 'unreadable';
      return describeBare(name, { state, isDefault, path: this.#store.layout.folder(name) });
    }
    const pythonVersion = await this.#engine.interpreter().then(
      ({ version }) => version,
      () => '',
    );
    const description = 'the interpreter itself';
    return describeBare(name, { state: 'ready', isDefault, isWarm, pythonVersion, description });
  }

  async create(
    { venvName, description = '', pythonVersion, packages = [] }: CreateRequest,
    options: StepOptions = {},
  ): Promise<{ environment: EnvironmentInfo; report: PackageReport | null }> {
    const name = checkName(venvName);
    const asked = this.#installer.parse(packages);
    const version = pythonVersion === undefined ? undefined : parsePythonVersion(pythonVersion);
    options.onStep?.(`Creating the environment "${name}".`, 0);
    const began = performance.now();
    const interpreter = await this.#interpreterFor({ version }, options);
    await this.#workshop.refuseEarly(name, interpreter);
    const wanted = { name, description, interpreter, inherit: name === this.defaultName, inline: false };
    const contents = await this.#installer.adding({ python: interpreter, requested: [] }, asked, {}, options);
    const made = await this.#workshop.make(wanted, contents, options);
    const took = performance.now() - began;
    const report = asked.length > 0 ? await this.#installer.report(undefined, made, asked, took) : null;
    return { environment: await this.#describe(name), report };
  }

  /** The environment of a script's inline dependencies, by name. It is made if there is none. */
  async provideInline(wanted: InlineDependencies, options: StepOptions = {}): Promise<string> {
    await this.#store.prepare();
    return this.#inline.provide(wanted, options);
  }

  /** The default interpreter if it will do, else the newest that does, else what uv can get. */
  async #interpreterFor(wanted: WantedPython, options: StepOptions): Promise<Interpreter> {
    const own = choosePython([await this.#engine.interpreter()], wanted);
    if (own) return own;
    const all = await listInterpreters(options.signal ? { signal: options.signal } : {});
    const found = choosePython(all, wanted) ?? (await this.#download(wanted, options));
    if (found) return found;
    const versions = [...new Set(all.map(({ version }) => version))];
    throw new PungiError(
      'INTERPRETER_NOT_FOUND',
      `No Python ${wanted.version ?? wanted.specifier} was found on this machine, and none could be downloaded; found are ${versions.join(', ')}.`,
      { wanted, found: versions },
    );
  }

  #download(wanted: WantedPython, options: StepOptions): Promise<Interpreter | undefined> {
    return this.#pythons.provide(wanted, { ...options, timeoutMs: this.#packageTimeoutMs });
  }

  async setDescription(
    venvName: string,
    description: string,
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    this.#refuseBareDefault(name);
    await this.#workshop.describe(name, description, options);
    return this.#describe(name);
  }

  async install(
    venvName: string | undefined,
    packages: readonly string[],
    { upgrade = false, ...options }: InstallOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    const asked = this.#installer.parse(packages);
    if (asked.length === 0) throw new PungiError('INVALID_INPUT', 'Name at least one package.');
    if (name === this.defaultName && !this.hasDefault()) {
      const made = await this.create({ venvName: name, packages }, options).catch(tolerateExisting);
      if (made) return made.report!;
    }
    const began = performance.now();
    const { before, after } = await this.#workshop.change(name, options, async (current, venv, signal) => {
      const known = await this.#installer.pinsIn(venv);
      return this.#installer.adding(current, asked, { known, upgrade }, { ...options, signal });
    });
    return this.#installer.report(before, after, asked, performance.now() - began);
  }

  async uninstall(
    venvName: string | undefined,
    packages: readonly string[],
    options: StepOptions = {},
  ): Promise<PackageReport> {
    const name = venvName === undefined ? this.defaultName : checkName(venvName);
    const names = this.#installer.parse(packages);
    if (names.length === 0 || names.some(({ text, key }) => text !== key)) {
      const sentence = 'Name the packages to remove, without versions, extras or markers.';
      throw new PungiError('INVALID_INPUT', sentence);
    }
    this.#refuseBareDefault(name);
    const began = performance.now();
    const { before, after } = await this.#workshop.change(name, options, async (current, venv, signal) =>
      this.#installer.removing(
        current,
        names,
        await this.#installer.pinsIn(venv),
        { ...options, signal },
        (needed) =>
          findDependents(
            current.python.path,
            venv,
            needed.map(({ name: one }) => one),
          ),
      ),
    );
    return this.#installer.report(before, after, names, performance.now() - began);
  }

  async delete(
    { venvName, confirm, confirmDefault = false, wait = false }: DeleteRequest,
    options: StepOptions = {},
  ): Promise<void> {
    const name = checkName(venvName, { allowInline: true });
    if (!confirm) {
      throw new PungiError(
        'INVALID_INPUT',
        `Deleting "${name}" cannot be undone: say that you mean it with confirm: true.`,
      );
    }
    if (name === this.defaultName && !confirmDefault) {
      throw new PungiError(
        'INVALID_INPUT',
        `"${name}" is the default environment: deleting it must be confirmed a second time, with confirmDefault: true.`,
      );
    }
    this.#refuseBareDefault(name);
    await this.#workshop.remove(name, { ...options, wait });
  }

  /** Shares every file with the original, so it takes a moment and next to no disk. */
  async clone(
    { from, to, description }: { from: string; to: string; description?: string | undefined },
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const source = checkName(from, { allowInline: true });
    const name = checkName(to);
    this.#refuseBareDefault(source);
    options.onStep?.(`Cloning "${source}" as "${name}".`);
    await this.#workshop.copy(source, { name, description }, options);
    return this.#describe(name);
  }

  /** A lock file: every package with its version and the hashes of its files. */
  async export(venvName: string | undefined, options: StepOptions = {}): Promise<string> {
    const wanted = this.#nameOf(venvName);
    this.#refuseBareDefault(wanted);
    const { metadata, release } = await this.#workshop.use(wanted, options);
    try {
      const { name, generation, description, python, requested } = metadata;
      const pins = await this.#installer.pinsIn(this.#store.layout.venv(name, generation));
      const pythonVersion = python.version.split('.').slice(0, 2).join('.');
      return renderLockFile(pins, { description, pythonVersion, requested });
    } finally {
      release();
    }
  }

  /** A new environment from a lock file: exactly what it names, each file as its hash says. */
  async import(
    { venvName, lock, description }: { venvName: string; lock: string; description?: string | undefined },
    options: StepOptions = {},
  ): Promise<EnvironmentInfo> {
    const name = checkName(venvName);
    const { about, pins } = parseLockFile(lock);
    this.#installer.checkPins(pins);
    const named =
      about.requested ??
      pins.map((pin) => `${pin.name}${pin.url === undefined ? `==${pin.version}` : ` @ ${pin.url}`}`);
    const requested = this.#installer.parseEach(named).map(({ text }) => text);
    options.onStep?.(`Creating the environment "${name}".`);
    const interpreter = await this.#interpreterFor({ version: about.pythonVersion }, options);
    const inherit = name === this.defaultName;
    await this.#workshop.make(
      { name, description: description ?? about.description ?? '', interpreter, inherit, inline: false },
      this.#installer.exactly(pins, requested, options),
      options,
    );
    return this.#describe(name);
  }

  /** Removes what is damaged or not used any more, and what is left of anything interrupted. Never what is in use. */
  async clean(request: CleanRequest = {}, options: StepOptions = {}): Promise<CleanReport> {
    const { dryRun = false } = checkCleanRequest(request);
    const removed: CleanReport['removed'] = [];
    for (const info of await this.list()) {
      const { venvName, sizeMb, sharedMb } = info;
      const reason = reasonToClean(info, request, new Date());
      if (reason === undefined) continue;
      if (!dryRun && !(await this.#workshop.removeUnused(venvName, options))) continue;
      removed.push({ venvName, reason, freedMb: Math.max(0, sizeMb - sharedMb) });
    }
    if (!dryRun && this.#store.isUsed()) {
      await this.#workshop.sweepUnfinished(options);
      await this.#store.emptyTrash();
      if (this.#store.hasCache()) await this.#installer.prune(options);
    }
    return { removed, dryRun };
  }

  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.#workshop.close();
  }

  /** The default environment has nothing of its own until something is installed. */
  #refuseBareDefault(name: string): void {
    if (name !== this.defaultName || this.hasDefault()) return;
    throw new PungiError(
      'ENVIRONMENT_NOT_FOUND',
      `The default environment "${name}" is the interpreter itself: nothing was installed into it yet.`,
      { venvName: name },
    );
  }

  #nameOf(venvName: string | undefined): string {
    return venvName === undefined ? this.defaultName : checkName(venvName, { allowInline: true });
  }
}

/** Another process was first: then it is an install like any other. */
function tolerateExisting(error: unknown): undefined {
  if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_EXISTS') throw error;
}
