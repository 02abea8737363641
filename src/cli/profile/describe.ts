import { countText } from '../../base/terminal.js';
import type { Profile } from '../../contract/profile.js';

/** Where the runs of a profile are. */
export function environmentText({ environment, packages }: Profile): string {
  if (environment !== null) return environment;
  return packages.length === 0 ? 'any' : countText(packages.length, 'package');
}

export function networkText({ allowedHosts: [first, ...others] }: Profile): string {
  if (first === undefined) return 'none';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}
