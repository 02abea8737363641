import type { ProfileDefinition } from '@pungi/core/contract';

/** Names of variables that hold secrets. */
const SECRET_NAME =
  /(^|_|\b)(pass(word|wd|phrase)?|secrets?|tokens?|api_?keys?|(private|access|signing)_?keys?|credentials?|auth(orization)?)(_|\b|$)/i;

/** Texts that are secrets, whatever their name. */
const SECRET_TEXTS: readonly [what: string, form: RegExp][] = [
  ['an address with a user or password', /[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+@/i],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY/],
  ['the seed of an nkey', /\bS[UAONC][A-Z2-7]{56}\b/],
  [
    'a token',
    /\b(gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|pypi-[\w-]{20,})/,
  ],
  ['a token', /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\./],
  ['an access key', /\b(AKIA|ASIA)[A-Z\d]{16}\b/],
];

/**
 * Returns where a profile has something that looks like a secret, and what. Profiles are read by every front end and by NATS, so
 * secrets are not shared.
 */
export function secretIn(definition: ProfileDefinition): string | undefined {
  return find(definition, [], false);
}

function find(value: unknown, path: readonly string[], isNamed: boolean): string | undefined {
  if (typeof value === 'string') {
    const [what] = SECRET_TEXTS.find(([, form]) => form.test(value)) ?? [];
    const found = what ?? (isNamed && value !== '' ? 'a value with the name of a secret' : undefined);
    return found && `${path.join('.')} is ${found}`;
  }
  if (isNamed && typeof value === 'number') return `${path.join('.')} is a value with the name of a secret`;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const isVariable = path[0] === 'template_vars';
    const below = [...path, path.length === 0 ? snakeCase(key) : key];
    const found = find(member, below, isVariable && (isNamed || SECRET_NAME.test(spaced(key))));
    if (found !== undefined) return found;
  }
  return undefined;
}

const snakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** apiKey → api_Key */
const spaced = (key: string): string => key.replace(/(?<=[a-z\d])(?=[A-Z])/g, '_');
