import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { callerOf } from '../contract/caller.js';
import type {
  EnvironmentChange,
  EnvironmentEvent,
  EnvironmentLock,
  PackageChange,
  PackageInfo,
  StepOptions,
} from '../contract/environment.js';
import type { EnvironmentLocks } from './lock-file.js';
import type { Metadata } from './store/metadata.js';

/** The audit record of a change of an environment. */
export type Note = Pick<EnvironmentChange, 'action' | 'details'>;

export type OnEnvironmentEvent = (event: EnvironmentEvent) => Promise<void>;

/**
 * Records changes before their callers get an answer. A change that cannot be recorded is kept: reverting it could
 * fail as well, and could not be recorded either. The caller gets AUDIT_UNAVAILABLE, which says that the change was
 * made.
 */
export class Recorder {
  constructor(
    private readonly locks: EnvironmentLocks,
    private readonly onEvent: OnEnvironmentEvent | undefined,
    private readonly logger: Logger,
  ) {}

  /** Called before the environment is removed. */
  async lockOf(metadata: Metadata | undefined): Promise<EnvironmentLock | null> {
    if (!this.onEvent || !metadata) return null;
    return this.locks.ofWhole(metadata).catch(() => null);
  }

  /** Records an existing environment with its current content. */
  async changed(note: Note, metadata: Metadata, options: StepOptions): Promise<void> {
    return this.noted(note, metadata.name, await this.lockOf(metadata), options);
  }

  async noted(
    { action, details }: Note,
    environment: string,
    lock: EnvironmentLock | null,
    { caller }: StepOptions,
  ): Promise<void> {
    return this.#emit({ action, environment, lock, caller: callerOf(caller), details });
  }

  async installed(change: Omit<PackageChange, 'lock' | 'error'>, after: Metadata): Promise<void> {
    return this.#emit({ ...change, lock: await this.lockOf(after), error: null });
  }

  /** Rethrows what `work` throws, after recording it. */
  async failing<T>(
    change: Omit<PackageChange, 'lock' | 'error' | 'added' | 'removed'>,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const { code, message } = PungiError.from(thrown);
      const { action, environment: venvName, requested } = change;
      const failure = { action, venvName, requested, code, message };
      this.logger.error('Packages could not be changed', failure);
      const isRecorded = code === 'AUDIT_UNAVAILABLE';
      if (!isRecorded) await this.#emit({ ...change, added: [], removed: [], lock: null, error: code });
      throw thrown;
    }
  }

  #emit(event: EnvironmentEvent): Promise<void> {
    return recordEvent(event, this.onEvent, this.logger);
  }
}

/** Throws AUDIT_UNAVAILABLE, which says whether the change was made. */
export async function recordEvent(
  event: EnvironmentEvent,
  onEvent: OnEnvironmentEvent | undefined,
  logger: Logger,
): Promise<void> {
  log(event, logger);
  try {
    await onEvent?.(event);
  } catch (error) {
    throw unrecorded(event, PungiError.from(error));
  }
}

function log(event: EnvironmentEvent, logger: Logger): void {
  const { action, environment: venvName } = event;
  if (!('error' in event)) logger.info('An environment was changed', { action, venvName, ...event.details });
  else if (event.error === null) {
    const { added, removed } = event;
    logger.info('Packages were changed', {
      action,
      venvName,
      added: named(added),
      removed: named(removed),
    });
  }
}

/** Formats each as `name version`. */
const named = (packages: readonly PackageInfo[]) => packages.map(({ name, version }) => `${name} ${version}`);

function unrecorded(event: EnvironmentEvent, cause: PungiError): PungiError {
  const { action, environment } = event;
  const failed = 'error' in event ? event.error : null;
  const what =
    failed === null
      ? `The environment "${environment}" was changed (${action})`
      : `The environment "${environment}" was not changed (${action}: ${failed})`;
  return new PungiError(
    'AUDIT_UNAVAILABLE',
    `${what}, but that could not be recorded: ${cause.message}`,
    { venvName: environment, action, changed: failed === null },
    cause,
  );
}
