import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { OnStep } from '../contract/environment.js';
import type { Environments } from './environments.js';

/** The packages of the default environment, installed in the background at the first start. */
export class Preinstalled {
  /** Never rejects: a failure is stored as the problem. */
  readonly done: Promise<void>;
  problem: string | null = null;
  #isPending: boolean;
  #stop = new AbortController();
  #listeners = new Set<OnStep>();

  constructor(
    private readonly environments: Environments,
    private readonly packages: readonly string[],
    private readonly logger: Logger,
  ) {
    this.#isPending = packages.length > 0;
    this.done = this.#isPending ? this.#install() : Promise.resolve();
  }

  get isPending(): boolean {
    return this.#isPending;
  }

  /** Reports the steps of the installation until it ends. */
  async wait(onStep: OnStep | undefined, signal?: AbortSignal): Promise<void> {
    const listener: OnStep = (message, share) => onStep?.(message, share);
    this.#listeners.add(listener);
    listener(`Waiting for the packages of the default environment: ${this.packages.join(', ')}.`);
    try {
      await Promise.race([this.done, aborted(signal)]);
    } finally {
      this.#listeners.delete(listener);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.done;
  }

  async #install(): Promise<void> {
    try {
      if (await this.#isThere()) return;
      this.logger.info('Installing packages into the default environment', { packages: this.packages });
      const { signal } = this.#stop;
      const onStep: OnStep = (message, share) => {
        this.logger.debug(message, {});
        for (const listener of this.#listeners) listener(message, share);
      };
      await this.environments.install(undefined, this.packages, { signal, onStep });
      this.logger.info('The packages of the default environment are installed', {});
    } catch (thrown) {
      const { message } = PungiError.from(thrown);
      if (this.#stop.signal.aborted) return;
      this.problem = `PREINSTALLED_PACKAGES could not be installed: ${message}`;
      this.logger.error(this.problem, { packages: this.packages });
    } finally {
      this.#isPending = false;
    }
  }

  async #isThere(): Promise<boolean> {
    const known = await this.environments.metadata().catch(() => undefined);
    return (
      known !== undefined &&
      this.environments.normalise(this.packages).every((one) => known.requested.includes(one))
    );
  }
}

function aborted(signal?: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
