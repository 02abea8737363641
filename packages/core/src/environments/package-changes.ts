import { PungiError } from '../base/errors.js';
import type { PackageInfo, PackageReport, PackageResult } from '../contract/environment.js';
import { distributionFor } from '../engine/module-names.js';
import type { PackagingOptions } from './packaging/packager.js';
import type { UvPackager } from './packaging/uv-packager.js';
import { nameKey, type Requirement } from './requirements/requirement.js';

/** More packages than this are not resolved one by one to find the one that fails. */
const MAX_BLAMED = 20;

/** Merges requirements: a new one for a package replaces the old one. */
export function mergeRequested(
  before: readonly string[],
  added: readonly Requirement[],
  keyOf: (text: string) => string,
) {
  const replaced = new Set(added.map(({ key }) => key));
  return [...before.filter((text) => !replaced.has(keyOf(text))), ...added.map(({ text }) => text)];
}

export function without(
  before: readonly string[],
  keys: ReadonlySet<string>,
  keyOf: (text: string) => string,
): string[] {
  return before.filter((text) => !keys.has(keyOf(text)));
}

/** Returns the result for each requested package, and what was added or removed with it. */
export function compare(
  asked: readonly Requirement[],
  before: readonly PackageInfo[],
  after: readonly PackageInfo[],
): Pick<PackageReport, 'packages' | 'added' | 'removed'> {
  const old = versions(before);
  const now = versions(after);
  return {
    packages: asked.map(({ key, text }) => {
      const version = now.get(key)?.version ?? null;
      const was = old.get(key)?.version ?? null;
      const status = version === null ? 'removed' : version === was ? 'unchanged' : 'installed';
      return { package: text, status, version, why: null };
    }),
    added: after.filter(({ name, version }) => old.get(nameKey(name))?.version !== version),
    removed: before.filter(({ name, version }) => now.get(nameKey(name))?.version !== version),
  };
}

const versions = (packages: readonly PackageInfo[]) =>
  new Map(packages.map((one) => [nameKey(one.name), one]));

/** Explains for each package why it cannot be installed; if each one could be, they conflict. */
export async function blame(
  failure: PungiError,
  asked: readonly Requirement[],
  { packager, python, options }: { packager: UvPackager; python: string; options: PackagingOptions },
): Promise<PungiError> {
  const explanation = String(failure.details['explanation'] ?? failure.message);
  const named = asked.filter(({ key }) => isNamed(key, explanation));
  // The resolver names the packages that conflict; if it names none of them, nothing is known.
  const together = (): PackageResult[] =>
    asked.map((one) => resultOf(one, named.length === 0 || named.includes(one) ? explanation : null));
  const hosts = failure.details['unreachable'];
  if (Array.isArray(hosts)) {
    // Without an index each of them would fail after a timeout.
    const why = `The package index cannot be reached (${hosts.join(', ')}).`;
    const packages = asked.map((one) => resultOf(one, why));
    return new PungiError(failure.code, failure.message, { ...failure.details, packages });
  }
  const packages =
    asked.length === 1 || asked.length > MAX_BLAMED
      ? together()
      : await Promise.all(asked.map((one) => judge(one)));
  const isJoint = packages.every(({ why }) => why === null);
  const failed = asked.filter((_, index) => packages[index]!.why !== null);
  const names = failed.map(({ text }) => text).join(', ');
  const message = isJoint ? failure.message : `${names} could not be resolved.${mistaken(failed)}`;
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    asked.length === 1 ? `${failure.message}${mistaken(asked)}` : message,
    {
      ...failure.details,
      packages: isJoint ? together() : packages,
    },
  );

  async function judge(one: Requirement): Promise<PackageResult> {
    const why = await packager.resolve({ python, requirements: [one.text], known: [] }, options).then(
      () => null,
      (error: unknown) => {
        if (options.signal?.aborted) throw error;
        const { details, message } = PungiError.from(error);
        return String(details['explanation'] ?? message);
      },
    );
    return resultOf(one, why);
  }
}

/** A package that could be installed alone is not to blame, though it was not installed either. */
const resultOf = ({ text }: Requirement, why: string | null): PackageResult => ({
  package: text,
  status: why === null ? 'skipped' : 'failed',
  version: null,
  why,
});

/** Whether the resolver's explanation mentions this package. */
const isNamed = (key: string, explanation: string) =>
  explanation.split(/[^A-Za-z0-9._-]+/).some((word) => nameKey(word.replace(/\.$/, '')) === key);

/** People request the module name that they import. */
function mistaken(asked: readonly Requirement[]): string {
  const known = asked.flatMap(({ name }) => {
    const distribution = distributionFor(name.replaceAll('-', '_'));
    return distribution === null || nameKey(distribution) === nameKey(name)
      ? []
      : [`The module ${name} comes with the package ${distribution}.`];
  });
  return known.map((sentence) => ` ${sentence}`).join('');
}
