import type { EnvironmentInfo, StepOptions } from '../contract/environment.js';
import type { Catalog } from './catalog.js';
import type { EnvironmentEditor } from './editor.js';
import type { InlineEnvironments } from './inline.js';
import type { Installer } from './installer.js';
import type { Interpreters } from './interpreters.js';
import { type About, minorOf, parseLockFile, renderLockFile } from './lock-file.js';
import type { LockedOptions, Pin } from './packaging/packager.js';
import { checkName } from './store/layout.js';

export interface CloneRequest {
  from: string;
  to: string;
  description?: string | undefined;
}

export interface ImportRequest {
  venvName: string;
  /** The text of a lock file. */
  lock: string;
  description?: string | undefined;
}

interface Parts {
  catalog: Catalog;
  editor: EnvironmentEditor;
  installer: Installer;
  interpreters: Interpreters;
  inline: InlineEnvironments;
}

/** Creates environments from others: as a clone, or from a lock file. */
export class Sharing {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async clone({ from, to, description }: CloneRequest, options: StepOptions): Promise<EnvironmentInfo> {
    const { catalog, editor } = this.#parts;
    const source = checkName(from, { allowInline: true });
    const name = checkName(to);
    catalog.refuseBareDefault(source);
    options.onStep?.(`Cloning "${source}" as "${name}".`);
    const note = { action: 'clone', details: { from: source } } as const;
    await editor.copy(source, { name, description }, note, options);
    return catalog.describe(name);
  }

  async export(venvName: string | undefined, options: StepOptions): Promise<string> {
    const { catalog, editor, installer } = this.#parts;
    const wanted = catalog.nameOf(venvName);
    const inherited = await catalog.inheritedPackages(wanted);
    if (catalog.isBare(wanted)) {
      const { pythonVersion } = await catalog.describe(wanted);
      return renderLockFile([], { pythonVersion: minorOf(pythonVersion), requested: [] }, inherited);
    }
    return editor.reading(wanted, options, async ({ name, generation, description, python, requested }) => {
      const pins = await installer.pinsIn(editor.store.layout.venv(name, generation));
      const about = { description, pythonVersion: minorOf(python.version), requested };
      return renderLockFile(pins, about, inherited);
    });
  }

  async import(
    { venvName, lock, description }: ImportRequest,
    options: LockedOptions,
  ): Promise<EnvironmentInfo> {
    const { catalog, editor, installer, interpreters } = this.#parts;
    const name = checkName(venvName);
    const { about, pins, requested } = this.#read(lock);
    options.onStep?.(`Creating the environment "${name}".`);
    const interpreter = await interpreters.find({ version: about.pythonVersion }, options);
    const wanted = {
      name,
      description: description ?? about.description ?? '',
      interpreter,
      inherit: catalog.inherits(name, undefined),
      inline: false,
    };
    const note = { action: 'import', details: { pythonVersion: interpreter.version, requested } } as const;
    await editor.make(wanted, installer.exactly(pins, requested, options), note, options);
    return catalog.describe(name);
  }

  /** Returns its name; creates it if there is none. */
  async provideLocked(lock: string, options: LockedOptions): Promise<string> {
    const { about, pins, requested } = this.#read(lock);
    const interpreter = await this.#parts.interpreters.find({ version: about.pythonVersion }, options);
    const description = 'For runs that are to be repeated.';
    const { inherit = false } = about;
    return this.#parts.inline.exactly({ pins, requested, interpreter, inherit, description }, options);
  }

  #read(lock: string): { about: About; pins: Pin[]; requested: string[] } {
    const { installer } = this.#parts;
    const { about, pins } = parseLockFile(lock);
    installer.checkPins(pins);
    const named =
      about.requested ??
      pins.map((pin) => `${pin.name}${pin.url === undefined ? `==${pin.version}` : ` @ ${pin.url}`}`);
    return { about, pins, requested: installer.parseEach(named).map(({ text }) => text) };
  }
}
