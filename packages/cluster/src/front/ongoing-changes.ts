import type { KV } from '@nats-io/kv';
import { type Logger, PungiError } from '@pungi/core/base';
import { callerOf, type EnvironmentEvent, type StepOptions } from '@pungi/core/contract';
import { type OnEnvironmentEvent, recordEvent } from '@pungi/core/environments';
import { type ChangeEvent, type Entry, lockIn } from '../protocol/environments.js';
import { changing, withLease } from './lease.js';

/** The changes that a front end makes now. They are recorded, and end with the front end. */
export class OngoingChanges {
  readonly #closing = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(
    private readonly bucket: KV,
    private readonly onEvent: OnEnvironmentEvent | undefined,
    private readonly logger: Logger,
  ) {}

  /** Aborted when the front end ends. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async close(): Promise<void> {
    this.#closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await Promise.allSettled(this.#pending);
  }

  /** One change of an environment at a time, in the whole cluster. */
  change<T>(
    name: string,
    options: StepOptions,
    work: (steps: StepOptions) => Promise<T>,
    wait = true,
  ): Promise<T> {
    return this.begin(options, (steps) => {
      const { signal, onStep } = steps;
      const onWait = () => onStep?.(`Waiting for another change of the environment "${name}" to end.`);
      return withLease(this.bucket, changing(name), { wait, signal, onWait }, (held) =>
        work({ ...steps, signal: held }),
      );
    });
  }

  begin<T>({ signal, ...options }: StepOptions, work: (steps: StepOptions) => Promise<T>): Promise<T> {
    const closing = this.#closing.signal;
    const steps = { ...options, signal: signal ? AbortSignal.any([signal, closing]) : closing };
    const pending = work(steps).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    return pending;
  }

  async record(
    environment: string,
    event: ChangeEvent,
    entry: Entry | undefined,
    { caller }: StepOptions,
  ): Promise<void> {
    const lock = entry ? lockIn(entry) : null;
    const whole = { ...event, environment, lock, caller: callerOf(caller) } as EnvironmentEvent;
    await recordEvent(whole, this.onEvent, this.logger);
  }
}
