import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from '../base/logger.js';
import {
  type ForkServerSettings,
  killChild,
  SANDBOX_UID,
  spawnForkServer,
  whyNotStarted,
} from '../sandbox/spawn.js';
import type { Listener } from './listener.js';
import type { Supervisor } from './supervisor.js';

export type ForkServerOptions = Pick<
  ForkServerSettings,
  'tier' | 'preload' | 'roots' | 'diskMb' | 'isBare' | 'data' | 'network'
> & {
  python: string;
  /** Those of the preload list that runs bring along: their workers are warmed up with them. */
  surelyUsed?: readonly string[];
  /** Whether the environment may lack modules of the preload list. */
  preloadIsOptional: boolean;
};

/** A supervisor is there in milliseconds; one that is not there after this long will never be. */
const START_TIMEOUT_MS = 15_000;

/** A jailed Python process that forks supervisors, and they workers, on order. */
export class ForkServer {
  readonly exited: Promise<string>;
  readonly options: ForkServerOptions;
  #child: ChildProcess;
  #listener: Listener;
  #logger: Logger;
  #reason = '';
  #open = new Set<(reason: string) => void>();
  #isAlive = true;

  constructor(options: ForkServerOptions, listener: Listener, logger: Logger) {
    this.options = options;
    this.#listener = listener;
    this.#logger = logger;
    const { python, preloadIsOptional: _, ...settings } = options;
    const { socket, workBase } = listener;
    this.#child = spawnForkServer(python, { ...settings, socket, workBase, uid: SANDBOX_UID });
    this.exited = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#ended(whyNotStarted(python, error), resolve));
      this.#child.on('close', (status, signal) =>
        this.#ended(this.#reason || `the fork server ended with ${signal ?? status}`, resolve),
      );
    });
    const { stdin, stderr } = this.#child;
    // Idle, it does not keep Node from ending; what waits for a worker does (engine/keep-alive.ts).
    this.#child.unref();
    for (const stream of [stdin, stderr]) (stream as Socket | null)?.unref();
    if (stderr) createInterface({ input: stderr }).on('line', (line) => this.#hear(line));
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
      const fail = (reason: string) => {
        clearTimeout(impatience);
        this.#open.delete(fail);
        order.forget();
        reject(new Error(reason));
      };
      const impatience = setTimeout(() => fail('a supervisor did not answer'), START_TIMEOUT_MS);
      const order = this.#listener.expect((supervisor) => {
        clearTimeout(impatience);
        this.#open.delete(fail);
        supervisor.onStuck = () => this.#say({ kill: order.id });
        resolve(supervisor);
      }, fail);
      if (!this.#isAlive) return fail('the fork server has ended');
      this.#open.add(fail);
      this.#say({ start: order.id, token: order.token });
    });
  }

  /** In the namespace tier everything below it goes along; in the others, each supervisor goes with its connection. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    killChild(this.#child);
    await this.exited;
  }

  /** Where it could not be started there is nobody to say it to, and 'error' tells so. */
  #say(order: Record<string, string>): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  #hear(line: string): void {
    const said = parseLine(line);
    if (typeof said['failed'] === 'string') this.#reason = said['failed'];
    else if (said['notPreloaded'] !== undefined) this.#hearNotPreloaded(said);
    else this.#logger.debug('Fork server', { line });
  }

  /** One list serves all environments: what is not installed in one of them is no fault. */
  #hearNotPreloaded(said: Record<string, unknown>): void {
    const { preloadIsOptional } = this.options;
    const level = preloadIsOptional && said['isAbsent'] === true ? 'debug' : 'error';
    this.#logger[level]('A module could not be preloaded', said);
  }

  #ended(reason: string, resolve: (reason: string) => void): void {
    this.#isAlive = false;
    for (const fail of [...this.#open]) fail(reason);
    resolve(reason);
  }
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return line.startsWith('{') ? (JSON.parse(line) as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
