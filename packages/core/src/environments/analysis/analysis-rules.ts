import type { Category, Severity } from '../../contract/analysis.js';

/** Category and severity of a rule's findings. A rule belongs to the first prefix that it starts with. */
export type RuleMeaning = [prefix: string, category: Category, severity: Severity];

/** Definite errors: the code does not parse, or fails when it is reached. */
const ALWAYS = ['F404', 'F406', 'F407', 'F50', 'F52', 'F6', 'F7', 'F82', 'PLE'];
const SECURITY = ['S'];
const COMPLEXITY = ['C90', 'PLR09'];
const STYLE = ['F401', 'F402', 'F403', 'F405', 'F541', 'F81', 'F84', 'F9', 'E', 'W', 'N', 'UP', 'B', 'C4'];

/** Code passed as an argument often has no newline at its end, which is fine. */
export const IGNORED = ['W292'];

/** Ruff reports everything as an error, so these severities follow Bandit, the origin of the rules: high, and low. */
const GRAVE = 'S201 S304 S312 S321 S324 S501 S502 S507 S602 S605 S609 S701'.split(' ');
const SLIGHT = 'S101 S105 S106 S107 S110 S112 S311 S504 S603 S606 S607'.split(' ');

const meaning =
  (category: Category, severity: Severity) =>
  (prefix: string): RuleMeaning => [prefix, category, severity];

export const MEANINGS: RuleMeaning[] = [
  ...['invalid-syntax', ...ALWAYS].map(meaning('error', 'error')),
  ...GRAVE.map(meaning('security', 'error')),
  ...SLIGHT.map(meaning('security', 'info')),
  ...SECURITY.map(meaning('security', 'warning')),
  ...COMPLEXITY.map(meaning('complexity', 'warning')),
  // Likely mistakes: unused or redefined names, bare except, comparisons that are not meant.
  ...['F', 'E7', 'B'].map(meaning('style', 'warning')),
  meaning('style', 'info')(''),
];

export interface Enabled {
  enableSecurity: boolean;
  enableStyle: boolean;
  enableComplexity: boolean;
}

export const selectRules = ({ enableSecurity, enableStyle, enableComplexity }: Enabled): string[] => [
  ...ALWAYS,
  ...(enableSecurity ? SECURITY : []),
  ...(enableComplexity ? COMPLEXITY : []),
  ...(enableStyle ? STYLE : []),
];
