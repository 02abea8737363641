import { PungiError } from '../../base/errors.js';
import { similarName } from '../../base/similar-name.js';
import type { Profile } from '../../contract/profile.js';
import { STRATEGIC } from './built-in.js';
import { type Chain, inherit } from './inherit.js';

const ANY = '*';

/** Whether a profile extends strategic analysis. */
export const isStrategic = ({ lineage }: Profile): boolean => lineage.includes(STRATEGIC);

/** A persona is a strategic profile that sets its code's persona variable. */
export const isPersona = (profile: Profile): boolean =>
  isStrategic(profile) && Object.hasOwn(profile.templateVars, 'persona');

/** The profiles of one server: the built-in ones and those of its file. */
export class Profiles {
  /** In the order of their definition: the built-in ones first. */
  readonly all: readonly Profile[];
  readonly #chains: ReadonlyMap<string, Chain>;
  readonly #allowed: readonly string[];

  constructor(chains: ReadonlyMap<string, Chain>, allowed: readonly string[] = [ANY]) {
    this.#chains = chains;
    this.#allowed = allowed;
    this.all = [...chains.values()].map(inherit);
  }

  /** The profiles that callers may use. */
  get usable(): Profile[] {
    return this.all.filter(({ name }) => this.mayUse(name));
  }

  get personas(): Profile[] {
    return this.all.filter(isPersona);
  }

  mayUse(name: string): boolean {
    return this.#allowed.includes(ANY) || this.#allowed.includes(name);
  }

  get(name: string): Profile {
    const found = this.all.find((profile) => profile.name === name);
    if (found !== undefined) return found;
    const names = this.usable.map((profile) => profile.name);
    const meant = similarName(name, names);
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    const message = `There is no profile ${JSON.stringify(name.slice(0, 80))}.${hint} There are: ${names.join(', ') || 'none'}.`;
    throw new PungiError('INVALID_INPUT', message, { issues: [message], profiles: names });
  }

  /** Returns the profile and the profiles that it extends. */
  chain(name: string): Chain {
    this.get(name);
    return this.#chains.get(name)!;
  }
}
