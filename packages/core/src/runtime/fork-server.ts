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
  /** Preloaded modules that runs certainly use: their workers are warmed up with them. */
  surelyUsed?: readonly string[];
  /** Preloaded modules that earlier runs have imported. */
  learned?: readonly string[];
  /** Whether the environment may lack preloaded modules. */
  preloadIsOptional: boolean;
};

/** A preloaded module, and why it failed to load if it did. */
export interface Preload {
  module: string;
  problem: string | null;
  /** The time that its import took; unknown if it failed. */
  tookMs?: number;
  /** Whether it was learned from runs, and not configured. */
  isLearned?: true;
}

/** The environment was changed or deleted since it was resolved and must be resolved again. */
export class GenerationGone extends PungiError {
  constructor(folder: string) {
    const sentence = `${folder} is gone: the environment was changed from outside. Create it again, or delete it.`;
    super('ENVIRONMENT_DAMAGED', sentence);
  }
}

/** A supervisor starts in milliseconds; after this time it counts as failed. */
const START_TIMEOUT_MS = 15_000;
/** How long an environment counts as in use after its last run. */
const MARKED_MS = 100;
/** The guard kills everything inside before it ends. */
const END_TIMEOUT_MS = 5000;

/** A jailed Python process with its guard. It forks supervisors on request, which fork workers. */
export class ForkServer {
  /** Resolves to the reason. */
  readonly exited: Promise<Error>;
  readonly options: ForkServerOptions;
  /** The result of preloading, once packages are loaded. */
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
    // An idle fork server does not keep Node running; callers that wait for a worker do (engine/keep-alive.ts).
    this.#child.unref();
    for (const stream of [stdin, stdout, stderr]) (stream as Socket | null)?.unref();
    if (stdout) createInterface({ input: stdout }).on('line', (line) => this.#receive(line));
    if (stderr)
      createInterface({ input: stderr }).on('line', (line) => logger.debug('Fork server', { line }));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Requests a supervisor; resolves when its first worker is parked inside all of its jails. */
  start(): Promise<Supervisor> {
    return new Promise((resolve, reject) => {
      const fail = (reason: Error) => {
        clearTimeout(timer);
        this.#open.delete(fail);
        order.forget();
        reject(reason);
      };
      const giveUp = () => fail(new Error('a supervisor did not answer'));
      // The guard enforces the time for loading packages, once with and once without preloads.
      let timer = setTimeout(giveUp, 2 * this.options.preloadTimeoutMs + START_TIMEOUT_MS);
      const order = this.#listener.expect(
        (supervisor) => {
          clearTimeout(timer);
          this.#open.delete(fail);
          supervisor.onStuck = () => this.#send({ kill: order.id });
          resolve(supervisor);
        },
        (reason) => fail(new Error(reason)),
      );
      if (!this.#isAlive) return fail(new Error('the fork server has ended'));
      this.#open.add(fail);
      void this.#loaded.then(() => {
        if (!this.#open.has(fail)) return;
        clearTimeout(timer);
        timer = setTimeout(giveUp, START_TIMEOUT_MS);
      });
      this.#send({ start: order.id, token: order.token });
    });
  }

  /** Shows other processes whether runs are active, and for a moment longer: consecutive runs cost one message. */
  markRuns(hasRuns: boolean): void {
    if (!this.options.lease) return;
    clearTimeout(this.#unmarking);
    if (!hasRuns) this.#unmarking = setTimeout(() => this.#mark(false), MARKED_MS).unref();
    else if (!this.#isMarked) this.#mark(true);
  }

  #mark(hasRuns: boolean): void {
    this.#isMarked = hasRuns;
    this.#send({ runs: hasRuns });
  }

  /** Closing its input ends everything below it. Orders that were not sent yet do not matter any more. */
  async end(): Promise<void> {
    this.#child.stdin?.destroy();
    const timer = setTimeout(() => killChild(this.#child), END_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  /** Does nothing if the process could not be started; 'error' reports that. */
  #send(order: Record<string, string | boolean>): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** Reads a report of the guard: a package can influence the reason of a failure, but not its length. */
  #receive(line: string): void {
    const report = JSON.parse(line) as Report;
    if ('failed' in report)
      this.#reason = report.byPackages ? cannotLoad(report.failed) : new Error(report.failed);
    else if ('ready' in report) {
      for (const [module, tookMs] of Object.entries(report.preloaded))
        this.preloads.push({ module, problem: null, tookMs, ...this.#isLearned(module) });
      this.#onLoaded();
    } else this.#addNotPreloaded(report);
  }

  /** One list serves all environments, so a module that is not installed is not an error. */
  #addNotPreloaded(report: NotPreloaded): void {
    // A restart without another module reports it again.
    if (this.preloads.some(({ module }) => module === report.notPreloaded)) return;
    const { notPreloaded: module, reason: problem, isAbsent } = report;
    const learned = this.#isLearned(module);
    const isFault = !learned.isLearned && !(this.options.preloadIsOptional && isAbsent);
    this.preloads.push({ module, problem, ...learned });
    this.#logger[isFault ? 'error' : 'debug']('A module could not be preloaded', { ...report });
  }

  #isLearned = (module: string): { isLearned?: true } =>
    this.options.learned?.includes(module) ? { isLearned: true } : {};

  #ended(why: Error, resolve: (reason: Error) => void): void {
    this.#isAlive = false;
    clearTimeout(this.#unmarking);
    const reason = whatIsGone(this.options) ?? why;
    for (const fail of [...this.#open]) fail(reason);
    resolve(reason);
  }
}

/** Returns whether a worker ended because its environment is gone. */
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

type Report =
  | { failed: string; byPackages?: boolean }
  | { ready: true; preloaded: Record<string, number> }
  | NotPreloaded;

const cannotLoad = (reason: string) =>
  new PungiError(
    'ENVIRONMENT_DAMAGED',
    `${reason[0]!.toUpperCase()}${reason.slice(1)}. Uninstall its package, or use another environment.`,
  );
