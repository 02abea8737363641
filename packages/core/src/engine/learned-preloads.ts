import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Preload } from '../runtime/fork-server.js';
import type { EnvironmentRef } from './environment-ref.js';

/** A run that needs this much CPU time probably spends it on imports, so its modules are preloaded at once. */
const COSTLY_MS = 50;
/** Cheaper runs have to import a module this often. */
const USES_UNTIL_PRELOADED = 3;
/** Modules of one environment. */
const MOST_LEARNED = 16;
/** A module that so many runs in a row did not import is left out of the next fork server. */
const RUNS_UNTIL_FORGOTTEN = 1000;
const MOST_ABSENT = 1000;
/** Code beyond this is not searched for imports. */
const MOST_SEARCHED = 64 * 1024;
/** Environments that are remembered. */
const MOST_ENVIRONMENTS = 100;

interface Learned {
  /** Folders of installed packages. */
  folders: string[];
  runs: number;
  uses: Map<string, { count: number; lastRun: number }>;
  /** In the order in which they were learned. */
  preloads: Set<string>;
  /** Modules that cannot be preloaded. */
  failed: Set<string>;
  /** Names of other modules, which need not be looked up again. */
  absent: Set<string>;
}

/**
 * Learns from the code of runs which installed modules an environment's fork servers should import in advance. Only names are
 * learned: the fork server imports them in its jail, and starts without those that fail, start threads or open sockets.
 */
export class LearnedPreloads {
  readonly #environments = new Map<string, Learned>();

  /** The modules for the next fork server of an environment. */
  of({ python }: Pick<EnvironmentRef, 'python'>): string[] {
    const learned = this.#environments.get(python);
    if (learned === undefined) return [];
    const isUsed = (name: string) => learned.runs - learned.uses.get(name)!.lastRun < RUNS_UNTIL_FORGOTTEN;
    learned.preloads = new Set([...learned.preloads].filter(isUsed));
    return [...learned.preloads];
  }

  /** Notes a run that has ended. Returns the learned modules that it imports. */
  note(ref: EnvironmentRef, code: string, cpuMs: number): string[] {
    if (ref.lease === undefined) return []; // the plain interpreter has no packages
    const learned = this.#learnedOf(ref);
    learned.runs += 1;
    const found = importsIn(code).filter((name) => !learned.failed.has(name) && !learned.absent.has(name));
    for (const name of found) this.#count(learned, name, cpuMs);
    return found.filter((name) => learned.preloads.has(name));
  }

  /** Notes which modules a fork server could preload; null: it could not serve, and no module is tried again. */
  settle({ python }: Pick<EnvironmentRef, 'python'>, preloads: readonly Preload[] | null): void {
    const learned = this.#environments.get(python);
    if (learned === undefined) return;
    const failed = preloads?.filter(({ problem }) => problem !== null).map(({ module }) => module);
    for (const name of failed ?? learned.preloads)
      if (learned.preloads.delete(name)) learned.failed.add(name);
  }

  #count(learned: Learned, name: string, cpuMs: number): void {
    const use = learned.uses.get(name);
    if (use === undefined && !isInstalled(name, learned.folders)) {
      if (learned.absent.size > MOST_ABSENT) learned.absent.clear();
      learned.absent.add(name);
      return;
    }
    const count = (use?.count ?? 0) + 1;
    learned.uses.set(name, { count, lastRun: learned.runs });
    const isWorth = cpuMs >= COSTLY_MS || count >= USES_UNTIL_PRELOADED;
    if (isWorth && learned.preloads.size < MOST_LEARNED) learned.preloads.add(name);
  }

  #learnedOf({ python }: EnvironmentRef): Learned {
    const known = this.#environments.get(python);
    if (known !== undefined) return known;
    const learned = {
      folders: packageFolders(python),
      runs: 0,
      uses: new Map(),
      preloads: new Set<string>(),
      failed: new Set<string>(),
      absent: new Set<string>(),
    };
    this.#environments.set(python, learned);
    if (this.#environments.size > MOST_ENVIRONMENTS)
      this.#environments.delete(this.#environments.keys().next().value!);
    return learned;
  }
}

const IMPORT =
  /(?:^|;)[ \t]*(?:import[ \t]+([\w. \t,]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w \t,]*))/gm;
const MODULE = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,5}$/;

/** The modules that the text seems to import. `from package import name` may import a module of the package. */
export function importsIn(code: string): string[] {
  const found = new Set<string>();
  for (const [, modules, source, names = ''] of code.slice(0, MOST_SEARCHED).matchAll(IMPORT)) {
    for (const name of namesIn(modules ?? source!)) found.add(name);
    if (source !== undefined) for (const name of namesIn(names)) found.add(`${source}.${name}`);
  }
  return [...found].filter((name) => MODULE.test(name)).slice(0, 100);
}

/** "a, b.c as d" → a, b.c */
const namesIn = (list: string) => list.split(',').map((item) => item.trim().split(/[ \t]/, 1)[0]!);

function packageFolders(python: string): string[] {
  const library = join(dirname(dirname(python)), 'lib');
  const names = existsSync(library) ? readdirSync(library) : [];
  return names.map((name) => join(library, name, 'site-packages')).filter((folder) => existsSync(folder));
}

const isInstalled = (name: string, folders: readonly string[]) =>
  folders.some((folder) => {
    const path = join(folder, ...name.split('.'));
    return existsSync(join(path, '__init__.py')) || existsSync(`${path}.py`);
  });
