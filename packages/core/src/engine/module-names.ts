import { DISTRIBUTIONS, SAME_NAME, STANDARD_LIBRARY } from './module-names-data.js';

const asDistribution = (module: string) => module.replaceAll(/[._]/g, '-').toLowerCase();

const byModule = new Map([
  ...SAME_NAME.map((module) => [module, asDistribution(module)] as const),
  ...Object.entries(DISTRIBUTIONS),
]);
const standardLibrary = new Set(STANDARD_LIBRARY);
const distributions = new Set(byModule.values());

/**
 * Returns the distribution to install for a module or its package: `cv2` is in opencv-python. Null if none is known:
 * the name alone may be that of an unrelated package, or of a file of the caller.
 */
export function distributionFor(module: string): string | null {
  // Foreign code can choose any name; no known name has more parts.
  const parts = module.split('.', 4);
  for (let length = parts.length; length > 0; length -= 1) {
    const known = byModule.get(parts.slice(0, length).join('.'));
    if (known !== undefined) return known;
  }
  return null;
}

/** Looks up exactly this module: if `numpy.nothing` is missing, numpy is installed. */
export const distributionOf = (module: string): string | null => byModule.get(module) ?? null;

/** Returns the distribution that a text names, by its own name or by its module's, or null. */
export function knownDistribution(name: string): string | null {
  const normal = name.replaceAll(/[-_.]+/g, '-').toLowerCase();
  return distributions.has(normal) ? normal : distributionOf(name);
}

/** Whether the module belongs to the standard library, in some version on some system, including C halves. */
export const isStandard = (module: string): boolean =>
  standardLibrary.has(module.split('.', 1)[0]!.replace(/^_/, ''));
