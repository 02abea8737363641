import type { StepOptions } from '../../contract/environment.js';
import type { Hold, LockKeeper } from '../../runtime/lock-keeper.js';
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
    const path = this.layout.lock(name);
    this.shared.settle(path);
    const hold: Hold = await this.keeper.acquire(path, 'exclusive', {
      ...(signal && { signal }),
      wait,
      onWait: () => onStep?.(`Waiting until the environment "${name}" is not in use.`),
    });
    try {
      return await act(signal ? AbortSignal.any([signal, hold.lost]) : hold.lost);
    } finally {
      hold.release();
    }
  }
}
