import { DISTRIBUTIONS, SAME_NAME, STANDARD_LIBRARY } from './module-names-data.js';

const asDistribution = (module: string) => module.replaceAll(/[._]/g, '-').toLowerCase();

const byModule = new Map([
  ...SAME_NAME.map((module) => [module, asDistribution(module)] as const),
  ...Object.entries(DISTRIBUTIONS),
]);
const standardLibrary = new Set(STANDARD_LIBRARY);
const distributions = new Set(byModule.values());

/**
 * The distribution to install for a module, or for the package that it is in: `cv2` is in opencv-python. Null where none is
 * known: the name alone may be that of a stranger's package, or of a file of the caller's.
 */
export function distributionFor(module: string): string | null {
  // Foreign code can make up any name; none that is known has more parts.
  const parts = module.split('.', 4);
  for (let length = parts.length; length > 0; length -= 1) {
    const known = byModule.get(parts.slice(0, length).join('.'));
    if (known !== undefined) return known;
  }
  return null;
}

/** The same for exactly this module: where `numpy.nothing` is missing, numpy is there. */
export const distributionOf = (module: string): string | null => byModule.get(module) ?? null;

/** The distribution that a text names, by its own name or by its module's; null where it is not known. */
export function knownDistribution(name: string): string | null {
  const normal = name.replaceAll(/[-_.]+/g, '-').toLowerCase();
  return distributions.has(normal) ? normal : distributionOf(name);
}

/** Whether Python itself brings the module, in some version on some system; also its half that is written in C. */
export const isStandard = (module: string): boolean =>
  standardLibrary.has(module.split('.', 1)[0]!.replace(/^_/, ''));
