import { DISTRIBUTIONS, NAMESPACES, NOT_ON_THE_INDEX } from './module-names-data.js';

const byModule = new Map(Object.entries(DISTRIBUTIONS));
const namespaces = new Set(NAMESPACES);
const notOnTheIndex = new Set(NOT_ON_THE_INDEX);

/**
 * The distribution to install for a module: `cv2` is in opencv-python. Null where there is none to name: a module of the
 * standard library, a private one, a namespace that many distributions share.
 */
export function distributionFor(module: string): string | null {
  // Foreign code can make up any name; none that is known has more parts.
  const parts = module.split('.', 4);
  for (let length = parts.length; length > 0; length -= 1) {
    const name = parts.slice(0, length).join('.');
    const known = byModule.get(name);
    if (known !== undefined) return known;
    if (namespaces.has(name))
      return length === parts.length ? null : asDistribution(parts.slice(0, length + 1));
  }
  return notOnTheIndex.has(parts[0]!) ? null : asDistribution(parts.slice(0, 1));
}

/** Most distributions are called like their module. A leading "_" must not become the "-" of an option. */
function asDistribution(parts: string[]): string | null {
  const name = parts.join('-').replaceAll('_', '-').toLowerCase();
  return /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name) ? name : null;
}

/** Whether the distribution is known, and not only called like its module. */
export const isMapped = (module: string): boolean =>
  byModule.has(module) || byModule.has(module.split('.')[0]!);
