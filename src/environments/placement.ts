import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunOptions } from '../contract/run.js';
import type { Engine } from '../engine/engine.js';
import type { Home } from '../engine/home.js';
import type { Job } from '../runtime/supervisor.js';
import type { Environments } from './environments.js';
import type { InlineDependencies } from './inline/inline-environments.js';
import { readInlineMetadata } from './inline/inline-metadata.js';
import type { Preinstalled } from './preinstalled.js';

/** Runs in a home that stays as it is until the run has ended. */
type Execute = (home: Home | undefined) => Promise<Outcome>;

/** A run, and what is said of its environment from outside its code. */
export interface Placed {
  job: Job;
  venvName?: string | undefined;
  /** For which an environment is made, as for those that code names itself. */
  packages?: readonly string[] | undefined;
  /** Who asks. */
  client?: string | undefined;
}

/** Finds the environment of a run, sees to it that it is there and filled, and holds it while the run lasts. */
export class Placement {
  constructor(
    private readonly engine: Engine,
    private readonly environments: Environments,
    private readonly preinstalled: Preinstalled,
    private readonly autoInstall: boolean,
  ) {}

  async run(placed: Placed, options: RunOptions, execute: Execute): Promise<Outcome> {
    const { job, venvName, client = '' } = placed;
    const clock = new Stopwatch();
    const inline = wantedBy(placed);
    if (inline !== null) {
      const steps = { ...stepsOf(options), client };
      const name = await clock.time(() => this.environments.provideInline(inline, steps));
      return clock.note(await this.in(name, options, execute));
    }
    const name = venvName ?? this.environments.defaultName;
    const runInIt = () => this.in(name, options, execute);
    const isEarly = this.preinstalled.isPending && name === this.environments.defaultName;
    let outcome = isEarly ? await this.#runEarly(job, clock, options, execute) : await runInIt();
    const missing = missingPackage(outcome);
    if (missing !== null && this.autoInstall) {
      const problem = await clock.time(() => this.#install(name, missing, { ...stepsOf(options), client }));
      outcome = problem === null ? await runInIt() : withHint(outcome, problem);
    }
    return clock.note(outcome);
  }

  /** While the packages of the default environment are on their way: what does not import any does not wait for them. */
  async #runEarly(job: Job, clock: Stopwatch, options: RunOptions, execute: Execute): Promise<Outcome> {
    if ((await this.engine.foreignImports(job)).length === 0) {
      const outcome = await this.in(undefined, options, execute);
      // Imports can hide from a look at the code.
      if (missingPackage(outcome) === null) return outcome;
    }
    await clock.time(() => this.preinstalled.wait(options.onStep, options.signal));
    return this.in(undefined, options, execute);
  }

  /** Holds the environment for whatever else is done in it. */
  async in<T>(
    venvName: string | undefined,
    options: RunOptions,
    act: (home: Home | undefined) => Promise<T>,
  ): Promise<T> {
    const { home, release } = await this.environments.use(venvName, stepsOf(options));
    try {
      return await act(home);
    } finally {
      release();
    }
  }

  /** Why the package cannot be had, or null where it is there now. */
  async #install(name: string, missing: string, steps: StepOptions): Promise<string | null> {
    steps.onStep?.(`Installing ${missing} into the environment "${name}" (AUTO_INSTALL).`);
    try {
      await this.environments.install(name, [missing], steps);
      return null;
    } catch (thrown) {
      steps.signal?.throwIfAborted();
      const { code, message } = PungiError.from(thrown);
      if (code === 'AUDIT_UNAVAILABLE') throw thrown;
      return `${missing} could not be installed: ${message}`;
    }
  }
}

/** The packages of a profile count, else those of the code. Neither does where an environment is named. */
function wantedBy({ job, venvName, packages = [] }: Placed): InlineDependencies | null {
  if (venvName !== undefined) return null;
  if (packages.length > 0) return { dependencies: [...packages], requiresPython: null };
  return readInlineMetadata(job.code);
}

/** What concerns the environment of a run, and nothing of the run itself. */
const stepsOf = ({ signal, onStep }: RunOptions): StepOptions => ({
  ...(signal && { signal }),
  ...(onStep && { onStep }),
});

const missingPackage = ({ verdict }: Outcome): string | null =>
  verdict.kind === 'python-error' ? verdict.exception.missingPackage : null;

function withHint(outcome: Outcome, hint: string): Outcome {
  const { verdict } = outcome;
  if (verdict.kind !== 'python-error') return outcome;
  return { ...outcome, verdict: { ...verdict, exception: { ...verdict.exception, hint } } };
}

/** Time that is not the run's own. */
class Stopwatch {
  #ms = 0;

  async time<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    return work().finally(() => {
      this.#ms += performance.now() - began;
    });
  }

  note(outcome: Outcome): Outcome {
    return { ...outcome, usage: { ...outcome.usage, installMs: Math.round(this.#ms) } };
  }
}
