import { readFile } from 'node:fs/promises';
import { badArgument } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { callerOf } from '../contract/caller.js';
import type { OnStep, PackageReport, StepOptions } from '../contract/environment.js';
import { FairQueue } from '../engine/fair-queue.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { parseLockFile, renderLockFile } from './lock-file.js';
import { blame, compare, mergeRequested, without } from './package-changes.js';
import type { Forget, LockedOptions, PackagingOptions, Pin } from './packaging/packager.js';
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

/** uv uses every processor by itself; more concurrent installations only slow each other down. */
const AT_ONCE = 2;
const MAX_WAITING = 100;

interface InstallerOptions {
  timeoutMs: number;
  sources: PackagingOptions['sources'];
}

/**
 * Decides the content of an environment and installs it. All requirements are resolved together to exact files, which
 * are installed into an empty virtual environment: nothing is left over, nothing is uninstalled, and no program of
 * the environment is started outside of the sandbox.
 */
export class Installer {
  #queue = new FairQueue(AT_ONCE, MAX_WAITING);

  constructor(
    private readonly packaging: Packaging,
    private readonly options: InstallerOptions,
    /** Aborted at shutdown. */
    private readonly closing: AbortSignal,
  ) {}

  /** Throws INVALID_INPUT for anything that is not a package, or of a kind that is not allowed here. */
  parse(packages: readonly string[]): Requirement[] {
    if (!Array.isArray(packages)) throw badArgument('packages', 'a list of texts', packages);
    return parseRequirements(packages, this.options.sources);
  }

  /** Parses requirements that were accepted before, however many. */
  parseEach(packages: readonly string[]): Requirement[] {
    return packages.map((text) => parseRequirement(text, this.options.sources));
  }

  /** A pinned URL is subject to the same rules as a requirement with a URL. */
  checkPins(pins: readonly Pin[]): void {
    for (const { name, url } of pins) if (url !== undefined) this.parseEach([`${name} @ ${url}`]);
  }

  /** Adds these to the existing packages. Versions stay if possible. */
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

  /** Resolves exactly these. */
  async only(
    python: Pick<Interpreter, 'path'>,
    asked: readonly Requirement[],
    options: StepOptions,
  ): Promise<{ pins: Pin[]; requested: string[] }> {
    const requested = asked.map(({ text }) => text);
    return { pins: await this.#resolve(python, requested, { asked, known: [] }, options), requested };
  }

  /** Removes these. Refused if a remaining package needs them. */
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

  /** Uses exactly these pins. */
  exactly(pins: readonly Pin[], requested: string[], options: LockedOptions): Contents {
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

  /** Returns the exact content of a generation. */
  async pinsIn(venv: string): Promise<Pin[]> {
    return parseLockFile(await readFile(`${venv}.lock`, 'utf8')).pins;
  }

  /** An empty list needs no tool and no network. */
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
    options: LockedOptions,
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

/** Reports progress by downloaded files. uv does not report small ones, so this may lag behind. */
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

/** Requirements that were accepted before are read whatever is allowed today. */
const keyOf = (text: string): string => parseRequirement(text, ['url', 'path', 'sdist']).key;

function stillNeeded(needed: readonly Requirement[], dependents: readonly string[]): PungiError {
  const names = needed.map(({ name }) => name).join(', ');
  const why = `${dependents.join(', ') || 'Another package'} needs ${names}: remove that as well.`;
  const packages = needed.map(({ name }) => ({ package: name, status: 'failed', version: null, why }));
  return new PungiError('PACKAGE_INSTALLATION_ERROR', why, { explanation: why, packages });
}
