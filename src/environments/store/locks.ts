import { PungiError } from '../../base/errors.js';
import type { StepOptions } from '../../contract/environment.js';
import type { AcquireOptions, Hold, LockKeeper } from '../../runtime/lock-keeper.js';
import type { SharedHolds } from '../../runtime/shared-holds.js';
import type { Layout } from './layout.js';

export interface ExclusiveOptions extends StepOptions {
  /** Whether to wait for runs and changes in progress, or to refuse with ENVIRONMENT_IN_USE. */
  wait?: boolean;
}

/** Who may use an environment now: runs together, changes alone, in the order they came, across processes. */
export class Locks {
  constructor(
    private readonly layout: Layout,
    private readonly keeper: LockKeeper,
    private readonly shared: SharedHolds,
  ) {}

  /** For a run. Resolves to what ends the use. */
  use(name: string, { signal, onStep }: StepOptions): Promise<() => void> {
    return this.shared.enter(this.layout.lock(name), {
      ...(signal && { signal }),
      onWait: () => onStep?.(`Waiting for a change of the environment "${name}" to end.`),
    });
  }

  /** For a change: nobody else uses or changes the environment meanwhile. `lost` says that this can no longer be relied on. */
  async alone<T>(
    name: string,
    { signal, onStep, wait = true }: ExclusiveOptions,
    act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.shared.settle(this.layout.lock(name));
    const hold = await this.#acquire(name, {
      ...(signal && { signal }),
      wait,
      onWait: () => onStep?.(inUse(name)),
    });
    try {
      return await act(signal ? AbortSignal.any([signal, hold.lost]) : hold.lost);
    } finally {
      hold.release();
    }
  }

  async #acquire(name: string, options: AcquireOptions): Promise<Hold> {
    try {
      return await this.keeper.acquire(this.layout.lock(name), 'exclusive', options);
    } catch (error) {
      if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_IN_USE') throw error;
      const sentence = `The environment "${name}" is in use: try again when its runs have ended, or ask to wait for them.`;
      throw new PungiError('ENVIRONMENT_IN_USE', sentence, { venvName: name });
    }
  }
}

const inUse = (name: string) => `Waiting until the environment "${name}" is not in use.`;
