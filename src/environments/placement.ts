import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunOptions } from '../contract/run.js';
import type { Engine } from '../engine/engine.js';
import type { Home } from '../engine/home.js';
import { ADD_TO_MADE } from '../engine/missing-module.js';
import { outOfScope } from '../engine/scope-verdict.js';
import type { Job } from '../runtime/supervisor.js';
import type { Environments } from './environments.js';
import { readInlineMetadata } from './inline/inline-metadata.js';
import type { Preinstalled } from './preinstalled.js';
import { ProfilePackages } from './profile-packages.js';

/** Runs in a home that stays as it is until the run has ended. */
type Execute = (home: Home | undefined) => Promise<Outcome>;

/** A run, and what is said of its environment from outside its code. */
export interface Placed {
  job: Job;
  venvName?: string | undefined;
  /** Whether the request names it, and not the profile. */
  isVenvAsked?: boolean | undefined;
  /** For which an environment is made, as for those that code names itself. */
  packages?: readonly string[] | undefined;
  /** The profile whose packages these are. */
  profile?: { readonly name: string } | null | undefined;
}

/** Finds the environment of a run, sees to it that it is there and filled, and holds it while the run lasts. */
export class Placement {
  readonly #profilePackages: ProfilePackages;

  constructor(
    private readonly engine: Engine,
    private readonly environments: Environments,
    private readonly preinstalled: Preinstalled,
    private readonly autoInstall: boolean,
  ) {
    this.#profilePackages = new ProfilePackages(environments);
  }

  async run(placed: Placed, options: RunOptions, execute: Execute): Promise<Outcome> {
    const { venvName, packages = [], profile } = placed;
    const outcome = await this.#run(placed, options, execute);
    const isUnused = (venvName !== undefined || packages.length > 0) && hasInlineMetadata(placed);
    return isUnused && profile ? withNote(outcome, unusedBlock(profile.name)) : outcome;
  }

  async #run(placed: Placed, options: RunOptions, execute: Execute): Promise<Outcome> {
    if (placed.isVenvAsked && hasInlineMetadata(placed)) throw twoEnvironments(placed.venvName!);
    const { job, venvName, packages = [] } = placed;
    const clock = new Stopwatch();
    const steps = stepsOf(options);
    // Code that may not run needs no packages.
    const examine = () => this.#refuseEarly(job);
    if (venvName === undefined && packages.length > 0) {
      const found = await clock.time(() => this.#profilePackages.provide(packages, steps, examine));
      const outcome = await this.in(found.venvName, options, execute);
      return clock.note(pointToProfile(outcome, placed, found.note));
    }
    const inline = venvName === undefined ? readInlineMetadata(job.code) : null;
    if (inline !== null) {
      const name = await clock.time(() => this.environments.provideInline(inline, steps, examine));
      return clock.note(await this.in(name, options, execute));
    }
    const name = venvName ?? this.environments.defaultName;
    const runInIt = () => this.in(name, options, execute);
    const isEarly = this.preinstalled.isPending && name === this.environments.defaultName;
    let outcome = isEarly ? await this.#runEarly(job, clock, options, execute) : await runInIt();
    const missing = missingPackage(outcome);
    if (missing !== null && this.autoInstall) {
      const problem = await clock.time(() => this.#install(name, missing, steps));
      outcome = problem === null ? await runInIt() : withHint(outcome, problem);
    }
    return clock.note(outcome);
  }

  /** While the packages of the default environment are on their way: what does not import any does not wait for them. */
  async #runEarly(job: Job, clock: Stopwatch, options: RunOptions, execute: Execute): Promise<Outcome> {
    if ((await this.engine.foreignImports(job)).length === 0) {
      const outcome = await this.in(undefined, options, execute);
      // Imports can hide from a look at the code.
      if (missingModule(outcome) === null) return outcome;
    }
    await clock.time(() => this.preinstalled.wait(options.onStep, options.signal));
    return this.in(undefined, options, execute);
  }

  /** Throws what the code would be refused with, before an environment is made for it. */
  async #refuseEarly(job: Job): Promise<void> {
    if (!job.rules) return;
    const { violations, summary, exception } = await this.engine.examine({ ...job, summarize: true });
    if (exception) throw new PungiError('PYTHON_ERROR', exception.message, { exception });
    const verdict = outOfScope({ violations }, job.rules);
    if (verdict?.kind === 'denied') throw new PungiError('DENIED', verdict.message, { verdict, summary });
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

/** What concerns the environment of a run, and nothing of the run itself. */
const stepsOf = ({ signal, onStep, caller }: RunOptions): StepOptions => ({
  ...(caller && { caller }),
  ...(signal && { signal }),
  ...(onStep && { onStep }),
});

const missingPackage = ({ verdict }: Outcome): string | null =>
  verdict.kind === 'python-error' ? verdict.exception.missingPackage : null;

const missingModule = ({ verdict }: Outcome): string | null =>
  verdict.kind === 'python-error' ? verdict.exception.missingModule : null;

/** What a run in the environment of a profile lacks, only the profile can bring. */
function pointToProfile(outcome: Outcome, { profile }: Placed, note: string | null): Outcome {
  const noted = note === null ? outcome : withNote(outcome, note);
  const { verdict } = outcome;
  if (!profile || verdict.kind !== 'python-error' || verdict.exception.hint === null) return noted;
  if (note !== null && missingModule(outcome) !== null) return withHint(noted, note);
  const remedy = `add it to the packages of the profile "${profile.name}", in the profiles file`;
  return withHint(noted, verdict.exception.hint.replace(ADD_TO_MADE, remedy));
}

const withNote = (outcome: Outcome, note: string): Outcome => ({
  ...outcome,
  notes: [...(outcome.notes ?? []), note],
});

const hasInlineMetadata = ({ job }: Placed) => readInlineMetadata(job.code) !== null;

const unusedBlock = (profile: string) =>
  `The packages of the "# /// script" block were not installed: the profile "${profile}" says which environment its runs use.`;

function twoEnvironments(venvName: string): PungiError {
  const issue = `the code names its packages in a "# /// script" block, for which an environment is made, and the request names the environment "${venvName}": leave out one of them`;
  return new PungiError('INVALID_INPUT', `The request is not valid: ${issue}.`, { issues: [issue] });
}

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
