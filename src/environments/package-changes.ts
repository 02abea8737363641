import { PungiError } from '../base/errors.js';
import type { PackageInfo, PackageReport, PackageResult } from '../contract/environment.js';
import { distributionFor } from '../engine/module-names.js';
import type { Packager, PackagingOptions } from './packaging/packager.js';
import { nameKey, type Requirement } from './requirements/requirement.js';

/** More than these are not looked at one by one to find out which of them is to blame. */
const MAX_BLAMED = 20;

/** What an environment is asked to hold: the new word on a package replaces the old one. */
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

/** What became of each package that was asked for, and of those that came or went with it. */
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

/** Tells for each package by itself why it cannot be had; where each could be, they cannot be had together. */
export async function blame(
  failure: PungiError,
  asked: readonly Requirement[],
  { packager, python, options }: { packager: Packager; python: string; options: PackagingOptions },
): Promise<PungiError> {
  const explanation = String(failure.details['explanation'] ?? failure.message);
  const together = (): PackageResult[] =>
    asked.map(({ text }) => ({ package: text, status: 'failed', version: null, why: explanation }));
  const packages =
    asked.length === 1 || asked.length > MAX_BLAMED
      ? together()
      : await Promise.all(asked.map(({ text }) => judge(text)));
  const isJoint = packages.every(({ why }) => why === null);
  const failed = packages.filter(({ why }) => why !== null).map((one) => one.package);
  const message = isJoint ? failure.message : `${failed.join(', ')} could not be resolved.${mistaken(asked)}`;
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    asked.length === 1 ? `${failure.message}${mistaken(asked)}` : message,
    {
      ...failure.details,
      packages: isJoint ? together() : packages,
    },
  );

  async function judge(text: string): Promise<PackageResult> {
    const why = await packager.resolve({ python, requirements: [text], known: [] }, options).then(
      () => null,
      (error: unknown) => {
        if (options.signal?.aborted) throw error;
        const { details, message } = PungiError.from(error);
        return String(details['explanation'] ?? message);
      },
    );
    return { package: text, status: 'failed', version: null, why };
  }
}

/** People ask for what they import. */
function mistaken(asked: readonly Requirement[]): string {
  const known = asked.flatMap(({ name }) => {
    const distribution = distributionFor(name.replaceAll('-', '_'));
    return distribution === null || nameKey(distribution) === nameKey(name)
      ? []
      : [`The module ${name} comes with the package ${distribution}.`];
  });
  return known.map((sentence) => ` ${sentence}`).join('');
}
