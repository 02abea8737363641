import { PungiError } from '../base/errors.js';
import { callerOf } from '../contract/caller.js';
import type { PackageChange, PackageReport, StepOptions } from '../contract/environment.js';
import type { Catalog } from './catalog.js';
import type { EnvironmentEditor } from './editor.js';
import type { Installer } from './installer.js';
import type { Interpreters } from './interpreters.js';
import type { Recorder } from './recorder.js';
import type { Requirement } from './requirements/requirement.js';
import { parsePythonVersion } from './requirements/versions.js';
import type { Contents } from './store/generations.js';
import { checkName } from './store/layout.js';
import type { Metadata } from './store/metadata.js';
import { findDependents } from './store/venv-tree.js';

export interface CreateRequest {
  venvName: string;
  description?: string | undefined;
  pythonVersion?: string | undefined;
  packages?: readonly string[] | undefined;
}

export interface InstallOptions extends StepOptions {
  /** Install the newest versions, even if an older one is installed and sufficient. */
  upgrade?: boolean | undefined;
}

interface Parts {
  catalog: Catalog;
  editor: EnvironmentEditor;
  installer: Installer;
  interpreters: Interpreters;
  recorder: Recorder;
}

interface Change {
  action: PackageChange['action'];
  name: string;
  asked: readonly Requirement[];
  decide(current: Metadata, venv: string, signal: AbortSignal): Promise<Contents>;
}

/** Installs packages into new and existing environments, and removes them. */
export class Packages {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null if there was nothing to install. */
  async create(request: CreateRequest, options: StepOptions): Promise<PackageReport | null> {
    const { installer, recorder } = this.#parts;
    const asked = installer.parse(request.packages ?? []);
    const began = performance.now();
    const make = () => this.#make(request, asked, options);
    if (asked.length === 0) {
      await make();
      return null;
    }
    // Failed installations are recorded, also for new environments.
    const made = await recorder.failing(
      changeOf('install', checkName(request.venvName), asked, options),
      make,
    );
    return installer.report(undefined, made, asked, performance.now() - began);
  }

  async install(
    venvName: string | undefined,
    packages: readonly string[],
    { upgrade = false, ...options }: InstallOptions,
  ): Promise<PackageReport> {
    const { catalog, installer } = this.#parts;
    const name = venvName === undefined ? catalog.defaultName : checkName(venvName);
    const asked = installer.parse(packages);
    if (asked.length === 0) throw new PungiError('INVALID_INPUT', 'Name at least one package.');
    const decide: Change['decide'] = async (current, venv, signal) => {
      const known = await installer.pinsIn(venv);
      return installer.adding(current, asked, { known, upgrade }, { ...options, signal });
    };
    return this.#change({ action: 'install', name, asked, decide }, options);
  }

  async uninstall(
    venvName: string | undefined,
    packages: readonly string[],
    options: StepOptions,
  ): Promise<PackageReport> {
    const { catalog, installer } = this.#parts;
    const name = venvName === undefined ? catalog.defaultName : checkName(venvName);
    const asked = installer.parse(packages);
    if (asked.length === 0 || asked.some(({ text, key }) => text !== key)) {
      const sentence = 'Name the packages to remove, without versions, extras or markers.';
      throw new PungiError('INVALID_INPUT', sentence);
    }
    catalog.refuseBareDefault(name);
    const decide: Change['decide'] = async (current, venv, signal) => {
      const namesOf = (needed: readonly Requirement[]) => needed.map((one) => one.name);
      return installer.removing(
        current,
        asked,
        await installer.pinsIn(venv),
        { ...options, signal },
        (needed) => findDependents(current.python.path, venv, namesOf(needed)),
      );
    };
    return this.#change({ action: 'uninstall', name, asked, decide }, options);
  }

  /** Successes and failures are recorded before the caller gets its answer. */
  async #change({ action, name, asked, decide }: Change, options: StepOptions): Promise<PackageReport> {
    const { catalog, editor, installer, recorder } = this.#parts;
    const about = changeOf(action, name, asked, options);
    const began = performance.now();
    const conclude = async (before: Metadata | undefined, after: Metadata) => {
      const report = await installer.report(before, after, asked, performance.now() - began);
      await recorder.installed({ ...about, added: report.added, removed: report.removed }, after);
      return report;
    };
    return recorder.failing(about, async () => {
      if (name === catalog.defaultName && !catalog.hasDefault()) {
        const made = await this.#make({ venvName: name }, asked, options).catch(tolerateExisting);
        if (made) return conclude(undefined, made);
      }
      return editor.change(name, options, decide, conclude);
    });
  }

  async #make(
    { venvName, description = '', pythonVersion }: CreateRequest,
    asked: readonly Requirement[],
    options: StepOptions,
  ): Promise<Metadata> {
    const { catalog, editor, installer, interpreters } = this.#parts;
    const name = checkName(venvName);
    const version = pythonVersion === undefined ? undefined : parsePythonVersion(pythonVersion);
    options.onStep?.(`Creating the environment "${name}".`, 0);
    const interpreter = await interpreters.find({ version }, options);
    await editor.quota.refuseEarly(name, interpreter);
    const inherit = catalog.inherits(name, undefined);
    const wanted = { name, description, interpreter, inherit, inline: false };
    const contents = await installer.adding({ python: interpreter, requested: [] }, asked, {}, options);
    const details = { pythonVersion: interpreter.version, requested: contents.requested };
    return editor.make(wanted, contents, { action: 'create', details }, options);
  }
}

const changeOf = (
  action: PackageChange['action'],
  environment: string,
  asked: readonly Requirement[],
  { caller }: StepOptions,
) => ({ action, environment, requested: asked.map(({ text }) => text), caller: callerOf(caller) });

/** Another process created it first: then this is an ordinary install. */
function tolerateExisting(error: unknown): undefined {
  if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_EXISTS') throw error;
}
