import { readFile } from 'node:fs/promises';
import { badArgument } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { callerOf } from '../contract/caller.js';
import type { OnStep, PackageReport, StepOptions } from '../contract/environment.js';
import { FairQueue } from '../engine/fair-queue.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { parseLockFile, renderLockFile } from './lock-file.js';
import { blame, compare, mergeRequested, without } from './package-changes.js';
import type { Forget, PackagingOptions, Pin } from './packaging/packager.js';
import type { Packaging } from './packaging/packaging.js';
import type { UvPackager } from './packaging/uv-packager.js';
import {
  nameKey,
  parseRequirement,
  parseRequirements,
  type Requirement,
} from './requirements/requirement.js';
import { type Contents, SHARES } from './store/generations.js';
import { type Metadata, writeDurably } from './store/metadata.js';

/** Tools of the field use every processor by themselves; more of them at once only get in each other's way. */
const AT_ONCE = 2;
const MAX_WAITING = 100;

export interface InstallerOptions {
  timeoutMs: number;
  sources: PackagingOptions['sources'];
}

/**
 * Decides what an environment is to contain and brings it in. What was asked for is resolved as a whole to exact files, and
 * those are put into an empty virtual environment: so nothing is left over, nothing is uninstalled, and no program of the
 * environment is ever started outside of the sandbox.
 */
export class Installer {
  #queue = new FairQueue(AT_ONCE, MAX_WAITING);

  constructor(
    private readonly packaging: Packaging,
    private readonly options: InstallerOptions,
    /** Aborted when everything ends. */
    private readonly closing: AbortSignal,
  ) {}

  /** INVALID_INPUT for whatever is not a package, or of a kind that is not allowed here. */
  parse(packages: readonly string[]): Requirement[] {
    if (!Array.isArray(packages)) throw badArgument('packages', 'a list of texts', packages);
    return parseRequirements(packages, this.options.sources);
  }

  /** For what was accepted once, however much it is. */
  parseEach(packages: readonly string[]): Requirement[] {
    return packages.map((text) => parseRequirement(text, this.options.sources));
  }

  /** A pin of an address is as much an address as a requirement that names one. */
  checkPins(pins: readonly Pin[]): void {
    for (const { name, url } of pins) if (url !== undefined) this.parseEach([`${name} @ ${url}`]);
  }

  /** What there is, and these. Versions stay as they are where they can. */
  async adding(
    { python, requested: before }: Pick<Metadata, 'python' | 'requested'>,
    asked: readonly Requirement[],
    { known = [], upgrade = false }: { known?: readonly Pin[]; upgrade?: boolean },
    options: StepOptions,
  ): Promise<Contents> {
    const requested = mergeRequested(before, asked, keyOf);
    const named = new Set(asked.map(({ key }) => key));
    const kept = upgrade ? known.filter(({ name }) => !named.has(nameKey(name))) : known;
    const pins = await this.#resolve(python, requested, { asked, known: kept }, options);
    return this.#contents(pins, requested, options, known);
  }

  /** Exactly what these come to. */
  async only(
    python: Pick<Interpreter, 'path'>,
    asked: readonly Requirement[],
    options: StepOptions,
  ): Promise<{ pins: Pin[]; requested: string[] }> {
    const requested = asked.map(({ text }) => text);
    return { pins: await this.#resolve(python, requested, { asked, known: [] }, options), requested };
  }

  /** What there is, without these. Refused if something that stays needs them. */
  async removing(
    { name, python, requested: before, packages }: Metadata,
    names: readonly Requirement[],
    known: readonly Pin[],
    options: StepOptions,
    dependents: (names: readonly Requirement[]) => Promise<string[]>,
  ): Promise<Contents> {
    const installed = new Set(packages.map((one) => nameKey(one.name)));
    const absent = names.filter(({ key }) => !installed.has(key)).map((one) => one.name);
    if (absent.length > 0) {
      const sentence = `Not installed in the environment "${name}": ${absent.join(', ')}.`;
      throw new PungiError('INVALID_INPUT', sentence, { issues: absent });
    }
    const requested = without(before, new Set(names.map(({ key }) => key)), keyOf);
    const pins = await this.#resolve(python, requested, { asked: [], known }, options);
    const left = new Set(pins.map((pin) => nameKey(pin.name)));
    const needed = names.filter(({ key }) => left.has(key));
    if (needed.length > 0) throw stillNeeded(needed, await dependents(needed));
    return this.#contents(pins, requested, options, known);
  }

  /** Exactly these and nothing else. */
  exactly(pins: readonly Pin[], requested: string[], options: StepOptions): Contents {
    return {
      requested,
      isKnown: false,
      fill: async ({ venv, interpreter }, signal) => {
        let forget: Forget = async () => {};
        if (pins.length > 0) {
          const onStep = counting(pins.length, options.onStep);
          forget = await this.#work({ ...options, signal, ...(onStep && { onStep }) }, (packager, how) =>
            packager.installPinned({ python: interpreter.path, venv }, [...pins], how),
          );
        }
        writeDurably(`${venv}.lock`, renderLockFile(pins), 0o600);
        return forget;
      },
    };
  }

  /** What exactly a generation was filled with. */
  async pinsIn(venv: string): Promise<Pin[]> {
    return parseLockFile(await readFile(`${venv}.lock`, 'utf8')).pins;
  }

  /** Nothing needs no tool and no network. */
  async #resolve(
    { path }: Pick<Interpreter, 'path'>,
    requested: string[],
    { asked, known }: { asked: readonly Requirement[]; known: readonly Pin[] },
    options: StepOptions,
  ): Promise<Pin[]> {
    if (requested.length === 0) return [];
    return this.#work(options, (packager, how) =>
      packager
        .resolve({ python: path, requirements: requested, known }, how)
        .catch(async (error: unknown) => {
          if (!(error instanceof PungiError) || error.code !== 'PACKAGE_INSTALLATION_ERROR') throw error;
          throw await blame(error, asked, { packager, python: path, options: how });
        }),
    );
  }

  #contents(pins: Pin[], requested: string[], options: StepOptions, known: readonly Pin[]): Contents {
    return {
      ...this.exactly(pins, requested, options),
      isKnown: renderLockFile(pins) === renderLockFile(known),
    };
  }

  prune(options: StepOptions): Promise<void> {
    return this.#work(options, (packager, how) => packager.prune(how));
  }

  async report(
    before: Metadata | undefined,
    after: Metadata,
    asked: readonly Requirement[],
    tookMs: number,
  ): Promise<PackageReport> {
    const { uv } = await this.packaging.packager();
    return {
      venvName: after.name,
      ...compare(asked, before?.packages ?? [], after.packages),
      tool: `uv ${uv.version}`,
      tookMs: Math.round(tookMs),
    };
  }

  async #work<T>(
    options: StepOptions,
    work: (packager: UvPackager, how: PackagingOptions) => Promise<T>,
  ): Promise<T> {
    const signal = options.signal ? AbortSignal.any([options.signal, this.closing]) : this.closing;
    const leave = await this.#queue.enter(callerOf(options.caller).connection, signal);
    try {
      const packager = await this.packaging.packager({ ...options, signal });
      return await work(packager, { ...options, ...this.options, signal });
    } finally {
      leave();
    }
  }
}

/** How far a filling is, by the files that have arrived. Small ones come without a word, so this may lag behind. */
function counting(pins: number, onStep: OnStep | undefined): OnStep | undefined {
  if (!onStep) return undefined;
  const { resolved, filled } = SHARES;
  let arrived = 0;
  onStep(`Installing ${pins} package${pins === 1 ? '' : 's'}`, resolved);
  return (message) => {
    if (message.startsWith('Downloaded ')) arrived += 1;
    onStep(message, resolved + (filled - resolved) * Math.min(1, arrived / pins));
  };
}

/** What was accepted once is read back whatever is allowed today. */
const keyOf = (text: string): string => parseRequirement(text, ['url', 'path', 'sdist']).key;

function stillNeeded(needed: readonly Requirement[], dependents: readonly string[]): PungiError {
  const names = needed.map(({ name }) => name).join(', ');
  const why = `${dependents.join(', ') || 'Another package'} needs ${names}: remove that as well.`;
  const packages = needed.map(({ name }) => ({ package: name, status: 'failed', version: null, why }));
  return new PungiError('PACKAGE_INSTALLATION_ERROR', why, { explanation: why, packages });
}
