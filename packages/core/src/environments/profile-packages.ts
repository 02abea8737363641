import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Environments } from './environments.js';
import { nameKey } from './requirements/requirement.js';

/** How long packages count as missing before the index is queried again. */
const ASK_AGAIN_MS = 60_000;

interface Shortage {
  kept: readonly string[];
  note: string;
  until: number;
}

interface Provided {
  /** Undefined if none of the packages is available, so that the run uses the default environment. */
  venvName: string | undefined;
  /** The missing packages, and why. */
  note: string | null;
}

/**
 * Environments for the packages of profiles. Packages that no index offers at the moment are left out, instead of
 * failing every run.
 */
export class ProfilePackages {
  #shortages = new Map<string, Shortage>();

  constructor(private readonly environments: Environments) {}

  async provide(
    packages: readonly string[],
    options: StepOptions,
    beforeMaking: () => Promise<void>,
  ): Promise<Provided> {
    const key = JSON.stringify(packages);
    const known = this.#shortages.get(key);
    if (known && known.until > performance.now()) {
      return { venvName: await this.#make(known.kept, options, beforeMaking), note: known.note };
    }
    this.#shortages.delete(key);
    let kept = packages;
    let note: string | null = null;
    for (;;) {
      try {
        const venvName = await this.#make(kept, options, beforeMaking);
        if (note !== null) this.#shortages.set(key, { kept, note, until: performance.now() + ASK_AGAIN_MS });
        return { venvName, note };
      } catch (thrown) {
        const error = PungiError.from(thrown);
        if (!isShortage(error)) throw thrown;
        kept = withoutMissing(kept, error);
        const missing = packages.filter((one) => !kept.includes(one)).join(', ');
        note = `Packages of the profile were skipped: ${missing}. ${reasonOf(error)}`;
      }
    }
  }

  async #make(
    dependencies: readonly string[],
    options: StepOptions,
    beforeMaking: () => Promise<void>,
  ): Promise<string | undefined> {
    if (dependencies.length === 0) return undefined;
    const wanted = { dependencies: [...dependencies], requiresPython: null };
    return this.environments.provideInline(wanted, options, beforeMaking);
  }
}

/** The request is valid, but the packages cannot be downloaded. */
const isShortage = ({ code, details }: PungiError) =>
  code === 'TOOL_UNAVAILABLE' ||
  (code === 'PACKAGE_INSTALLATION_ERROR' && Array.isArray(details['unreachable']));

const reasonOf = ({ details, message }: PungiError) =>
  Array.isArray(details['unreachable'])
    ? `The package index cannot be reached (${details['unreachable'].join(', ')}), and the cache does not have them.`
    : message;

/** Returns the packages that uv found in its cache, or none if it does not name them. */
function withoutMissing(packages: readonly string[], { details }: PungiError): readonly string[] {
  const names = Array.isArray(details['missing']) ? details['missing'].map(String) : [];
  const missing = new Set(names.map((name) => nameKey(/^[\w.-]+/.exec(name)?.[0] ?? name)));
  const kept = packages.filter((text) => !missing.has(nameKey(/^[\w.-]+/.exec(text)?.[0] ?? text)));
  return kept.length < packages.length ? kept : [];
}
