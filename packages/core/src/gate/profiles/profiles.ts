import { PungiError } from '../../base/errors.js';
import { similarName } from '../../base/issue-text.js';
import type { Profile, ProfileDefinition } from '../../contract/profile.js';
import { type Chain, inherit } from './inherit.js';

const ANY = '*';

/** Whether a profile extends strategic analysis. */
export const isStrategic = ({ lineage }: Profile): boolean => lineage.includes(STRATEGIC);

/** A persona is a strategic profile that sets its code's persona variable. */
export const isPersona = (profile: Profile): boolean =>
  isStrategic(profile) && Object.hasOwn(profile.templateVars, 'persona');

/** The profiles of one server: the built-in ones, those of its file, and those that its cluster shares. */
export class Profiles {
  readonly #own: ReadonlyMap<string, Chain>;
  readonly #allowed: readonly string[];
  #chains: ReadonlyMap<string, Chain>;
  #all: readonly Profile[] = [];

  constructor(own: ReadonlyMap<string, Chain>, allowed: readonly string[] = [ANY]) {
    this.#own = own;
    this.#chains = own;
    this.#allowed = allowed;
    this.share(new Map());
  }

  /** In the order of their definition: the built-in ones first. */
  get all(): readonly Profile[] {
    return this.#all;
  }

  /** Runs that begin from now on find these besides the server's own, instead of those with the same names. */
  share(shared: ReadonlyMap<string, Chain>): void {
    // A built-in one that extends a shared one takes the place of itself, not of one in the file.
    const isIn = ([name, [source]]: [string, Chain]) =>
      source.origin !== BUILT_IN || this.#own.get(name)?.[0].origin === BUILT_IN;
    this.#chains = new Map([...this.#own, ...[...shared].filter(isIn)]);
    this.#all = [...this.#chains.values()].map(inherit);
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

/** The origin of profiles without a file. */
export const BUILT_IN = 'built-in';

/** The profile that every persona extends. */
const STRATEGIC = 'strategic';

/** The capabilities of strategic analysis. */
export const CAPABILITIES = [
  'strategic_data_analysis',
  'roi_calculations',
  'stakeholder_analytics',
  'performance_metrics',
  'executive_reporting',
] as const;

const persona = (
  name: string,
  role: string,
  focus: string,
  ...more: string[]
): [string, ProfileDefinition] => [
  name,
  {
    description: role,
    extends: STRATEGIC,
    focus,
    defaultImports: ['pandas', 'numpy', 'pandas as pd', 'numpy as np', ...more],
    templateVars: { persona: name, role },
  },
];

export const BUILT_IN_PROFILES: ReadonlyMap<string, ProfileDefinition> = new Map<string, ProfileDefinition>([
  ['default', { description: 'No rules but the limits' }],
  [
    STRATEGIC,
    {
      description: 'Strategic analysis with pandas and numpy, reports and charts',
      // Besides pandas: libraries for Parquet and Excel, tables, styled reports and charts.
      packages: ['numpy', 'pandas', 'pyarrow', 'openpyxl', 'tabulate', 'jinja2', 'matplotlib'],
      // Importing pyplot starts another program to find fonts, which the rules below deny to a run.
      preload: ['numpy', 'pandas', 'matplotlib.pyplot'],
      limits: { timeoutMs: 30_000, cpuMs: 30_000, memoryMb: 512 },
      allowedImports: [
        'pandas',
        'numpy',
        'json',
        'datetime',
        'math',
        'statistics',
        'collections',
        'tabulate',
        'jinja2',
        'matplotlib',
      ],
      blockedImports: ['os', 'sys', 'subprocess', 'socket', 'urllib', 'requests', 'shutil'],
      blockedBuiltins: ['open', 'exec', 'eval', 'compile', '__import__', 'globals', 'locals', 'breakpoint'],
      blockedOperations: ['file', 'process', 'network', 'introspection'],
      scopeMessage: 'Code outside strategic scope. Only strategic analysis allowed.',
      contextVariable: 'strategic_context',
      cacheTtl: 1800,
      disclosure: true,
    },
  ],
  persona('diego', 'Engineering Leadership', 'leadership_metrics'),
  persona('alvaro', 'Business Strategy', 'business_intelligence', 'statistics'),
  persona('martin', 'Platform Architecture', 'architecture_analysis', 'json'),
  persona('camille', 'Strategic Technology', 'strategic_technology', 'statistics'),
  persona('rachel', 'Design Systems Strategy', 'design_analytics'),
]);
