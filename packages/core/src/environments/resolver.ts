import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunOptions } from '../contract/run.js';
import type { Engine } from '../engine/engine.js';
import { ADD_TO_MADE } from '../engine/missing-module.js';
import { outOfScope } from '../engine/scope-verdict.js';
import type { Job } from '../runtime/job.js';
import type { Environments } from './environments.js';
import { type InlineDependencies, readInlineMetadata } from './inline.js';
import type { Preinstalled } from './preinstalled.js';
import { ProfilePackages } from './profile-packages.js';

/** What determines the environment of a run, besides its code. */
interface EnvironmentRequest {
  job: Job;
  venvName?: string | undefined;
  /** Whether the request names the environment, and not the profile. */
  isVenvAsked?: boolean | undefined;
  /** Packages of the profile, for which an environment is created. */
  packages?: readonly string[] | undefined;
  /** Packages that the request adds to those of the script. */
  added?: readonly string[] | undefined;
  profile?: { readonly name: string } | null | undefined;
}

/** The environment of a run. */
interface Resolved {
  /** Undefined for the default environment, or the plain interpreter if there is none yet. */
  venvName: string | undefined;
  /** The time that creating the environment and installing packages took. */
  installMs: number;
  /** Packages of the profile that are not available, and why. */
  shortage: string | null;
  /** Notes for the outcome. */
  notes: readonly string[];
  /** What to do if a module is missing. */
  onMissing: 'nothing' | 'point-to-profile' | 'wait-for-packages' | 'install';
}

/** The outcome of a run, and the environment to run it in again, if necessary. */
interface Judged {
  outcome: Outcome;
  again: Resolved | null;
}

/** Finds the environment of a run, and creates it or installs packages if necessary. */
export class EnvironmentResolver {
  readonly #profilePackages: ProfilePackages;

  constructor(
    private readonly engine: Engine,
    private readonly environments: Environments,
    private readonly preinstalled: Preinstalled,
    private readonly autoInstall: boolean,
  ) {
    this.#profilePackages = new ProfilePackages(environments);
  }

  async resolve(request: EnvironmentRequest, options: RunOptions): Promise<Resolved> {
    const { job, venvName, packages = [], added = [], profile, isVenvAsked } = request;
    const inline = withPackages(readInlineMetadata(job.code), added);
    if (isVenvAsked && inline !== null) throw twoEnvironments(venvName!);
    const unused = inline !== null && profile ? [unusedBlock(profile.name)] : [];
    const steps = stepsOf(options);
    // Code that may not run needs no packages.
    const examine = () => this.#refuseEarly(job);
    if (venvName === undefined && packages.length > 0) {
      const [found, installMs] = await timed(() => this.#profilePackages.provide(packages, steps, examine));
      const { venvName, note: shortage } = found;
      const notes = shortage === null ? unused : [shortage, ...unused];
      return { venvName, installMs, shortage, notes, onMissing: 'point-to-profile' };
    }
    if (venvName === undefined && inline !== null) {
      const [name, installMs] = await timed(() => this.environments.provideInline(inline, steps, examine));
      return { venvName: name, installMs, shortage: null, notes: [], onMissing: 'nothing' };
    }
    const onMissing = this.autoInstall ? 'install' : 'nothing';
    const resolved: Resolved = { venvName, installMs: 0, shortage: null, notes: unused, onMissing };
    const isEarly = this.preinstalled.isPending && (venvName ?? this.#default) === this.#default;
    if (!isEarly) return resolved;
    // Code that imports none of the pending packages does not wait for them. Static analysis may miss imports.
    if ((await this.engine.foreignImports(job)).length === 0)
      return { ...resolved, onMissing: 'wait-for-packages' };
    return this.#waitForPackages(resolved, options);
  }

  /** Completes the outcome, and decides whether the run is repeated. */
  async judge(
    outcome: Outcome,
    resolved: Resolved,
    request: EnvironmentRequest,
    options: RunOptions,
  ): Promise<Judged> {
    const { installMs, shortage, notes, onMissing } = resolved;
    const done = withInstallMs(withNotes(outcome, notes), Math.round(installMs));
    const end = (final: Outcome): Judged => ({ outcome: final, again: null });
    const { verdict } = outcome;
    if (verdict.kind !== 'python-error') return end(done);
    const { missingModule, missingPackage } = verdict.exception;
    if (onMissing === 'point-to-profile') return end(pointToProfile(done, request, shortage));
    if (onMissing === 'wait-for-packages') {
      const again = missingModule === null ? null : await this.#waitForPackages(resolved, options);
      return { outcome: done, again };
    }
    if (onMissing === 'nothing' || missingPackage === null) return end(done);
    const [problem, tookMs] = await timed(() =>
      this.#install(resolved.venvName, missingPackage, stepsOf(options)),
    );
    const spentMs = installMs + tookMs;
    if (problem === null)
      return { outcome: done, again: { ...resolved, installMs: spentMs, onMissing: 'nothing' } };
    return end(withHint(withInstallMs(done, Math.round(spentMs)), problem));
  }

  get #default(): string {
    return this.environments.defaultName;
  }

  async #waitForPackages(resolved: Resolved, options: RunOptions): Promise<Resolved> {
    const [, tookMs] = await timed(() => this.preinstalled.wait(options.onStep, options.signal));
    const onMissing = this.autoInstall ? 'install' : 'nothing';
    return { ...resolved, installMs: resolved.installMs + tookMs, onMissing };
  }

  /** Throws the denial of the code before an environment is created for it. */
  async #refuseEarly(job: Job): Promise<void> {
    if (!job.rules) return;
    const { violations, summary, exception } = await this.engine.examine({ ...job, summarize: true });
    if (exception) throw new PungiError('PYTHON_ERROR', exception.message, { exception });
    const verdict = outOfScope({ violations }, job.rules);
    if (verdict?.kind === 'denied') throw new PungiError('DENIED', verdict.message, { verdict, summary });
  }

  /** Returns why the package cannot be installed, or null if it is installed now. */
  async #install(venvName: string | undefined, missing: string, steps: StepOptions): Promise<string | null> {
    const name = venvName ?? this.#default;
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

function withPackages(
  inline: InlineDependencies | null,
  added: readonly string[],
): InlineDependencies | null {
  if (added.length === 0) return inline;
  const { dependencies, requiresPython } = inline ?? { dependencies: [], requiresPython: null };
  return { dependencies: [...dependencies, ...added], requiresPython };
}

/** Returns the options that concern the environment of a run. */
export const stepsOf = ({ signal, onStep, caller }: RunOptions): StepOptions => ({
  ...(caller && { caller }),
  ...(signal && { signal }),
  ...(onStep && { onStep }),
});

async function timed<T>(work: () => Promise<T>): Promise<[result: T, tookMs: number]> {
  const began = performance.now();
  return [await work(), performance.now() - began];
}

/** If a run lacks a package of its profile's environment, only the profile can add it. */
function pointToProfile(outcome: Outcome, { profile }: EnvironmentRequest, shortage: string | null): Outcome {
  const { verdict } = outcome;
  if (!profile || verdict.kind !== 'python-error' || verdict.exception.hint === null) return outcome;
  if (shortage !== null && verdict.exception.missingModule !== null) return withHint(outcome, shortage);
  const remedy = `add it to the packages of the profile "${profile.name}", in the profiles file`;
  return withHint(outcome, verdict.exception.hint.replace(ADD_TO_MADE, remedy));
}

export const withNotes = (outcome: Outcome, notes: readonly string[]): Outcome =>
  notes.length === 0 ? outcome : { ...outcome, notes: [...(outcome.notes ?? []), ...notes] };

const withInstallMs = (outcome: Outcome, installMs: number): Outcome =>
  installMs === outcome.usage.installMs ? outcome : { ...outcome, usage: { ...outcome.usage, installMs } };

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
