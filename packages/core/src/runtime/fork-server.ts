import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { SANDBOX_UID } from '../sandbox/sandbox-uid.js';
import { type ForkServerSettings, killChild, spawnForkServer, whyNotStarted } from '../sandbox/spawn.js';
import type { Listener } from './listener.js';
import type { Supervisor } from './supervisor.js';

export type ForkServerOptions = Pick<
  ForkServerSettings,
  | 'tier'
  | 'preload'
  | 'preloadTimeoutMs'
  | 'memoryMb'
  | 'mostSupervisors'
  | 'roots'
  | 'diskMb'
  | 'isBare'
  | 'data'
  | 'network'
  | 'cgroups'
  | 'lease'
> & {
  python: string;
  /** Those of the preload list that runs bring along: their workers are warmed up with them. */
  surelyUsed?: readonly string[];
  /** Whether the environment may lack modules of the preload list. */
  preloadIsOptional: boolean;
};

/** A module of the preload list: whether it is loaded, and why not. */
export interface Preload {
  module: string;
  problem: string | null;
}

/** The environment was changed or deleted since it was looked up: it is to be looked up again. */
export class GenerationGone extends PungiError {
  constructor(folder: string) {
    const sentence = `${folder} is gone: the environment was changed from outside. Create it again, or delete it.`;
    super('ENVIRONMENT_DAMAGED', sentence);
  }
}

/** A supervisor is there in milliseconds; one that is not there after this long will never be. */
const START_TIMEOUT_MS = 15_000;
/** How long an environment counts as in use after its last run. */
const MARKED_MS = 100;
/** The guard kills whatever is inside before it ends. */
const END_TIMEOUT_MS = 5000;

/** A jailed Python process that forks supervisors, and they workers, on order; with its guard. */
export class ForkServer {
  /** Resolves to the reason. */
  readonly exited: Promise<Error>;
  readonly options: ForkServerOptions;
  /** What became of the preload list, once packages are loaded. */
  readonly preloads: Preload[] = [];
  #child: ChildProcess;
  #listener: Listener;
  #logger: Logger;
  #reason: Error | undefined;
  #open = new Set<(reason: Error) => void>();
  #isAlive = true;
  #isMarked = false;
  #unmarking: NodeJS.Timeout | undefined;
  #loaded: Promise<void>;
  #onLoaded = () => {};

  constructor(options: ForkServerOptions, listener: Listener, logger: Logger) {
    this.options = options;
    this.#listener = listener;
    this.#logger = logger;
    const { python, preloadIsOptional: _, ...settings } = options;
    const { socket, workBase } = listener;
    this.#loaded = new Promise((resolve) => {
      this.#onLoaded = resolve;
    });
    this.#child = spawnForkServer(python, { ...settings, socket, workBase, uid: SANDBOX_UID });
    this.exited = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#ended(new Error(whyNotStarted(python, error)), resolve));
      this.#child.on('close', (status, signal) =>
        this.#ended(this.#reason ?? new Error(`the fork server ended with ${signal ?? status}`), resolve),
      );
    });
    const { stdin, stdout, stderr } = this.#child;
    // Idle, it does not keep Node from ending; what waits for a worker does (engine/keep-alive.ts).
    this.#child.unref();
    for (const stream of [stdin, stdout, stderr]) (stream as Socket | null)?.unref();
    if (stdout) createInterface({ input: stdout }).on('line', (line) => this.#hear(line));
    if (stderr)
      createInterface({ input: stderr }).on('line', (line) => logger.debug('Fork server', { line }));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Orders a supervisor; resolves when its first worker is parked inside all of its jails. */
  start(): Promise<Supervisor> {
    return new Promise((resolve, reject) => {
      const fail = (reason: Error) => {
        clearTimeout(impatience);
        this.#open.delete(fail);
        order.forget();
        reject(reason);
      };
      const giveUp = () => fail(new Error('a supervisor did not answer'));
      // The guard keeps the time that packages have to load, once with and once without preloads.
      let impatience = setTimeout(giveUp, 2 * this.options.preloadTimeoutMs + START_TIMEOUT_MS);
      const order = this.#listener.expect(
        (supervisor) => {
          clearTimeout(impatience);
          this.#open.delete(fail);
          supervisor.onStuck = () => this.#say({ kill: order.id });
          resolve(supervisor);
        },
        (reason) => fail(new Error(reason)),
      );
      if (!this.#isAlive) return fail(new Error('the fork server has ended'));
      this.#open.add(fail);
      void this.#loaded.then(() => {
        if (!this.#open.has(fail)) return;
        clearTimeout(impatience);
        impatience = setTimeout(giveUp, START_TIMEOUT_MS);
      });
      this.#say({ start: order.id, token: order.token });
    });
  }

  /** Shows other processes whether runs are under way, and for a moment longer: runs in a row cost one message. */
  markRuns(hasRuns: boolean): void {
    if (!this.options.lease) return;
    clearTimeout(this.#unmarking);
    if (!hasRuns) this.#unmarking = setTimeout(() => this.#mark(false), MARKED_MS).unref();
    else if (!this.#isMarked) this.#mark(true);
  }

  #mark(hasRuns: boolean): void {
    this.#isMarked = hasRuns;
    this.#say({ runs: hasRuns });
  }

  /** The end of its input ends all that is below it. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    const impatience = setTimeout(() => killChild(this.#child), END_TIMEOUT_MS);
    await this.exited;
    clearTimeout(impatience);
  }

  /** Where it could not be started there is nobody to say it to, and 'error' tells so. */
  #say(order: Record<string, string | boolean>): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The guard's words: a package can say what failed, never how much it says. */
  #hear(line: string): void {
    const said = JSON.parse(line) as Report;
    if ('failed' in said) this.#reason = said.byPackages ? cannotLoad(said.failed) : new Error(said.failed);
    else if ('ready' in said) {
      for (const module of said.preloaded) this.preloads.push({ module, problem: null });
      this.#onLoaded();
    } else this.#hearNotPreloaded(said);
  }

  /** One list serves all environments: what is not installed in one of them is no fault. */
  #hearNotPreloaded(said: NotPreloaded): void {
    // A start without another module says it again.
    if (this.preloads.some(({ module }) => module === said.notPreloaded)) return;
    const isFault = !(this.options.preloadIsOptional && said.isAbsent);
    this.preloads.push({ module: said.notPreloaded, problem: said.reason });
    this.#logger[isFault ? 'error' : 'debug']('A module could not be preloaded', { ...said });
  }

  #ended(why: Error, resolve: (reason: Error) => void): void {
    this.#isAlive = false;
    clearTimeout(this.#unmarking);
    const reason = whatIsGone(this.options) ?? why;
    for (const fail of [...this.#open]) fail(reason);
    resolve(reason);
  }
}

/** Whether the environment is why a worker of it ended. */
export function whatIsGone({ python, lease }: Pick<ForkServerOptions, 'python' | 'lease'>) {
  if (!lease) return undefined;
  const folder = dirname(dirname(python));
  return [folder, lease.generation].every(existsSync) ? undefined : new GenerationGone(folder);
}

interface NotPreloaded {
  notPreloaded: string;
  isAbsent: boolean;
  reason: string;
}

type Report = { failed: string; byPackages?: boolean } | { ready: true; preloaded: string[] } | NotPreloaded;

const cannotLoad = (reason: string) =>
  new PungiError(
    'ENVIRONMENT_DAMAGED',
    `${reason[0]!.toUpperCase()}${reason.slice(1)}. Uninstall the package that brings it, or use another environment.`,
  );
