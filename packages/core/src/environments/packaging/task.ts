import { PungiError } from '../../base/errors.js';
import { runTool, type ToolCommand, type ToolEnd } from '../../sandbox/tool.js';
import { type JailSettings, runJailedTool } from './build-jail.js';
import { progressOf } from './failure.js';
import type { PackagingOptions } from './packager.js';

/** One task, for which uv may run several times within one time limit. */
export class PackagingTask {
  readonly options: PackagingOptions;
  readonly #stopped = new AbortController();
  readonly #what: string;
  readonly #until: number;

  /** `what` begins a sentence: "Installing numpy". */
  constructor(what: string, options: PackagingOptions) {
    this.#what = what;
    this.options = options;
    this.#until = performance.now() + options.timeoutMs;
  }

  get signal(): AbortSignal {
    const { signal } = this.options;
    return signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal;
  }

  /** Ends the running tool and prevents further ones. */
  stop(why: PungiError): void {
    this.#stopped.abort(why);
  }

  report(step: string): void {
    this.options.onStep?.(step);
  }

  /** With a jail it may build source distributions. */
  async run(command: ToolCommand, jail?: JailSettings): Promise<ToolEnd> {
    const { signal } = this;
    const left = this.#until - performance.now();
    if (left <= 0) throw this.#tooLong();
    const onLine = (line: string) => {
      const step = progressOf(line);
      // A resolution is reported once.
      const isRepeated = step?.startsWith('Resolved') === true && !this.#what.startsWith('Resolving');
      if (step !== undefined && !isRepeated) this.report(step);
    };
    const options = { timeoutMs: Math.ceil(left), onLine, signal };
    try {
      return await (jail ? runJailedTool(command, jail, options) : runTool(command, options));
    } catch (error) {
      if (signal.aborted) throw cancelled(signal.reason);
      if (error instanceof PungiError && error.code === 'EXECUTION_TIMEOUT') throw this.#tooLong();
      throw error;
    }
  }

  #tooLong(): PungiError {
    const { timeoutMs } = this.options;
    return new PungiError(
      'PACKAGE_INSTALLATION_ERROR',
      `${this.#what} took longer than ${timeoutMs} ms (PACKAGE_TIMEOUT_MS).`,
      { timeoutMs },
    );
  }
}

export function cancelled(reason: unknown): PungiError {
  if (reason instanceof PungiError) return reason;
  return new PungiError('CANCELLED', 'The work on packages was cancelled.', {}, reason);
}
