import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import type { PackageInfo, StepOptions } from '../../contract/environment.js';
import type { Interpreter } from '../../sandbox/interpreter.js';
import { runTool } from '../../sandbox/tool.js';
import { creationTime, FORMAT, type Metadata, writeMetadata } from './metadata.js';
import type { Store } from './store.js';
import {
  createVenv,
  type FinishedPlace,
  finishVenv,
  linkVenv,
  showInterpreter,
  type VenvFacts,
} from './venv-tree.js';

/** The progress when versions are chosen, and when everything is installed; the rest is compiling. */
export const SHARES = { resolved: 0.15, filled: 0.75 };

/** The signal and the progress callback of a change. */
type Steps = StepOptions & { signal: AbortSignal };

/** The content of an environment. */
export interface Contents {
  /** The requested packages, as requirements. */
  requested: string[];
  /** Whether it equals the current content. */
  isKnown: boolean;
  /**
   * Installs the packages into an empty virtual environment that nobody uses yet. Returns a function that removes
   * them from the cache if the environment is rejected.
   */
  fill(place: { venv: string; interpreter: Interpreter }, signal: AbortSignal): Promise<() => Promise<void>>;
}

export interface NewEnvironment {
  name: string;
  description: string;
  interpreter: Interpreter;
  /** Whether it sees the interpreter's packages: only the default environment can. */
  inherit: boolean;
  inline: boolean;
}

/**
 * Creates and changes environments so that each is complete at every instant: a new generation is built next to the
 * current one, and one rename activates it. Requires the environment's change lock.
 */
export class Generations {
  constructor(
    private readonly store: Store,
    private readonly maxMb: number,
    /** Admits another environment, if there is room. */
    private readonly admit: (one: Metadata, enter: () => Promise<void>) => Promise<void>,
  ) {}

  make(
    { interpreter, inherit, ...about }: NewEnvironment,
    contents: Contents,
    steps: Steps,
  ): Promise<Metadata> {
    return this.#build(about, steps, async (venv, willBeAt) => {
      const filled = await this.#fill({ venv, willBeAt, interpreter, inherit }, contents, steps);
      const python = { path: interpreter.path, version: interpreter.version };
      return { ...about, python, inherit, ...filled };
    });
  }

  /** Creates an environment that shares all files of another. */
  clone(from: Metadata, to: { name: string; description: string }, steps: Steps): Promise<Metadata> {
    return this.#build(to, steps, async (venv, willBeAt) => {
      const original = this.store.layout.venv(from.name, from.generation);
      const { configuration } = await linkVenv(from.python.path, original, venv, steps.signal);
      await copyFile(`${original}.lock`, `${venv}.lock`);
      const facts = await this.#finish(from.python, { venv, configuration, willBeAt }, steps);
      const { python, inherit, parent, requested } = from;
      return { ...to, inline: false, python, inherit, parent, requested, ...facts };
    });
  }

  /** Changes the description of the same generation. */
  async describe(
    current: Metadata,
    change: Partial<Pick<Metadata, 'description' | 'requested'>>,
  ): Promise<Metadata> {
    const metadata = { ...current, ...change };
    writeMetadata(this.store.layout.folder(current.name), metadata);
    return metadata;
  }

  /** Creates a new generation and activates it. */
  async change(current: Metadata, contents: Contents, steps: Steps): Promise<Metadata> {
    if (contents.isKnown) return this.describe(current, { requested: contents.requested });
    const { python: interpreter, inherit } = current;
    return this.#replace(current, steps, (venv) =>
      this.#fill({ venv, willBeAt: venv, interpreter, inherit }, contents, steps),
    );
  }

  /** Creates a new generation with the same files, which shows or hides the interpreter's packages. */
  async showInterpreter(current: Metadata, inherit: boolean, steps: Steps): Promise<Metadata> {
    const { python, name, generation } = current;
    const original = this.store.layout.venv(name, generation);
    return this.#replace(current, steps, async (venv) => {
      const { signal } = steps;
      await linkVenv(python.path, original, venv, signal);
      const { parent, configuration } = await showInterpreter(python.path, venv, { inherit, signal });
      await copyFile(`${original}.lock`, `${venv}.lock`);
      return {
        inherit,
        parent,
        ...(await this.#finish(python, { venv, configuration, willBeAt: venv }, steps)),
      };
    });
  }

  /** Builds a generation next to the current one, and then activates it. */
  async #replace(
    current: Metadata,
    steps: Steps,
    build: (venv: string) => Promise<Partial<Metadata>>,
  ): Promise<Metadata> {
    const { layout } = this.store;
    const { name } = current;
    const generation = this.store.newGeneration();
    try {
      const metadata = { ...current, generation, ...(await build(layout.venv(name, generation))) };
      steps.signal.throwIfAborted();
      writeMetadata(layout.folder(name), metadata);
      return metadata;
    } catch (error) {
      await this.store.discard(layout.venv(name, generation));
      await this.store.discard(layout.lockFile(name, generation));
      throw error;
    }
  }

  /** Builds it under a temporary name; one rename gives it its final one. */
  async #build(
    { name }: { name: string },
    steps: Steps,
    build: (venv: string, willBeAt: string) => Promise<Omit<Metadata, 'format' | 'created' | 'generation'>>,
  ): Promise<Metadata> {
    const { layout } = this.store;
    const making = this.store.newMaking(name);
    const generation = this.store.newGeneration();
    await mkdir(making);
    // Whatever the umask: the sandbox's user must be able to read it.
    await chmod(making, 0o755);
    try {
      const about = await build(join(making, generation), layout.venv(name, generation));
      const metadata: Metadata = { format: FORMAT, created: creationTime(), generation, ...about };
      writeMetadata(making, metadata);
      await this.admit(metadata, async () => {
        steps.signal.throwIfAborted();
        await this.store.place(making, name);
      });
      return metadata;
    } catch (error) {
      await this.store.discard(making);
      throw error;
    }
  }

  async #fill(
    place: { venv: string; willBeAt: string; interpreter: Interpreter; inherit: boolean },
    { requested, fill }: Contents,
    steps: Steps,
  ): Promise<Pick<Metadata, 'parent' | 'requested' | keyof VenvFacts>> {
    const { venv, willBeAt, interpreter, inherit } = place;
    const { parent, configuration } = await createVenv(interpreter.path, venv, {
      inherit,
      signal: steps.signal,
    });
    const forget = await fill({ venv, interpreter }, steps.signal);
    try {
      const facts = await this.#finish(interpreter, { venv, configuration, willBeAt }, steps);
      return { parent, requested, ...facts };
    } catch (error) {
      await forget();
      throw error;
    }
  }

  async #finish(interpreter: Interpreter, place: FinishedPlace, steps: Steps): Promise<VenvFacts> {
    steps.onStep?.('Compiling and checking', SHARES.filled);
    const facts = await finishVenv(
      interpreter.path,
      { ...place, store: this.store.layout.bytecode },
      steps.signal,
    );
    const megabytes = Math.ceil(facts.bytes / 1024 / 1024);
    if (megabytes > this.maxMb) {
      throw new PungiError(
        'PACKAGE_INSTALLATION_ERROR',
        `The environment would take ${megabytes} MB on disk; at most ${this.maxMb} MB are allowed (MAX_ENVIRONMENT_MB).`,
      );
    }
    await prepareFontList(interpreter, { venv: place.venv, packages: facts.packages }, steps.signal);
    return facts;
  }
}

/** Listing hundreds of fonts takes a few seconds. */
const TIMEOUT_MS = 30_000;
const LARGEST_BYTES = 4 * 1024 * 1024;
const NAME = /^fontlist-v[\w.]{1,20}\.json$/;

const LIST_FONTS = `
import json, pathlib, matplotlib.font_manager
lists = pathlib.Path(matplotlib.get_cachedir()).glob("fontlist-*.json")
print(json.dumps({file.name: file.read_text("utf-8") for file in lists}))
`;
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/tmp', MPLCONFIGDIR: '/tmp/matplotlib' };

/** The folder where font_list.py finds it. */
const folderOf = (venv: string) => join(venv, 'share', 'pungi', 'matplotlib');

/**
 * matplotlib lists the machine's fonts when it is first imported, which every run would do anew: it is done once, with the environment.
 * matplotlib runs in the jail for builds and prints its list. Where that fails, runs make their own.
 */
async function prepareFontList(
  { path: python }: Interpreter,
  { venv, packages }: { venv: string; packages: PackageInfo[] },
  signal: AbortSignal,
): Promise<void> {
  const folder = folderOf(venv);
  if (existsSync(folder) || !packages.some(({ name }) => name === 'matplotlib')) return;
  try {
    const jail = { readable: [venv, dirname(dirname(await realpath(python)))], writable: [] };
    const command = { python, command: join(venv, 'bin', 'python'), args: ['-I', '-c', LIST_FONTS] };
    const { stdout } = await runTool(
      { ...command, env: ENVIRONMENT, jail },
      { timeoutMs: TIMEOUT_MS, signal },
    );
    const lists = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(lists).slice(0, 1))
      if (NAME.test(name) && typeof text === 'string' && text.length <= LARGEST_BYTES)
        await writeFile(join(folder, name), text);
  } catch {
    signal.throwIfAborted();
  }
}
