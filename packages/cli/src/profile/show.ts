import { oneLine, type Style } from '@pungi/core/base';
import type { Profile, ProfileDefinition } from '@pungi/core/contract';
import { BUILT_IN, type Chain, loadProfiles, type ProfileSource } from '@pungi/core/gate';
import type { Command } from 'commander';
import { readConfig } from '../config-flags.js';
import { type End, subcommand } from './subcommand.js';

export const show = (end: End): Command =>
  subcommand<[name: string | undefined]>('show', end, {
    about: 'show the rules of a profile, including inherited ones',
    operands: [['[name]', 'default: the default profile']],
    help: `  pungi profile show diego
  pungi profile show --json

"←" names the profile that a rule is inherited from. What is not shown is not restricted.`,
    async run({ style }, flags, name) {
      const config = readConfig(flags);
      const profiles = loadProfiles(config);
      const profile = profiles.get(name ?? config.defaultProfile);
      const chain = profiles.chain(profile.name);
      const mayUse = profiles.mayUse(profile.name);
      const rules = rulesOf(profile, chain);
      return { json: { ...profile, mayUse, chain }, text: screenOf(profile, rules, mayUse, style) };
    },
  });

function screenOf(profile: Profile, rules: readonly Rule[], mayUse: boolean, style: Style): string {
  const { name, description, lineage } = profile;
  const about: Rule[] = [
    { label: 'From', parts: [{ text: originText(profile), from: null }] },
    { label: 'Extends', parts: lineage.slice(1).map((text) => ({ text, from: null })) },
    { label: 'Callers', parts: [{ text: mayUse ? 'may use it' : 'may not use it', from: null }] },
  ];
  const shown = [...about, ...rules].filter(({ parts }) => parts.length > 0);
  const width = Math.max(...shown.map(({ label }) => label.length));
  const lines = shown.flatMap(({ label, parts }) =>
    parts.map(({ text, from }, index) => {
      const head = style('dim', (index === 0 ? label : '').padEnd(width));
      return `  ${head}  ${oneLine(text)}${from === null ? '' : style('dim', `  ← ${from}`)}`;
    }),
  );
  const more = rules.length === 0 ? ['  No rules: only the sandbox and its limits apply.'] : [];
  const title = `${style('bold', name)}${description === '' ? '' : `  ${oneLine(description)}`}`;
  return [title, ...lines, ...more, ''].join('\n');
}

/** A part of a rule and its origin: null for the profile itself. */
interface RulePart {
  text: string;
  from: string | null;
}

interface Rule {
  label: string;
  parts: RulePart[];
}

type Key = keyof ProfileDefinition;

const LABELS = {
  focus: 'Focus',
  environment: 'Environment',
  packages: 'Packages',
  preload: 'Preloaded',
  limits: 'Limits',
  allowedImports: 'Allowed imports',
  blockedImports: 'Blocked imports',
  blockedBuiltins: 'Blocked builtins',
  blockedOperations: 'Blocked operations',
  scopeMessage: 'Message',
  defaultImports: 'Default imports',
  templateVars: 'Variables',
  contextVariable: 'Context variable',
  network: 'Hosts',
  workspace: 'Data',
  outputStyle: 'Output',
  cacheTtl: 'Cached for',
  deterministic: 'Deterministic',
  disclosure: 'Disclosure',
} as const satisfies Partial<Record<Key, string>>;

/** The rules that are set, each with its origin. */
function rulesOf(profile: Profile, chain: Chain): Rule[] {
  return (Object.keys(LABELS) as (keyof typeof LABELS)[])
    .map((key) => ({ label: LABELS[key], parts: partsOf(key, profile, chain) }))
    .filter(({ parts }) => parts.length > 0);
}

function partsOf(key: keyof typeof LABELS, profile: Profile, chain: Chain): RulePart[] {
  const items = itemsOf(key, profile);
  const bySource = new Map<string | null, string[]>();
  for (const item of items) {
    // An item of a list belongs to the first profile that names it; a single value to the last.
    const sets = (source: ProfileSource) => itemsSet(key, source.definition).includes(item);
    const isSingle = !Array.isArray(profile[key as keyof Profile]) && key !== 'network';
    const source = isSingle ? chain.find(sets) : chain.findLast(sets);
    if (source === undefined) continue;
    const from = source === chain[0] ? null : sourceText(source, chain);
    bySource.set(from, [...(bySource.get(from) ?? []), item]);
  }
  return [...bySource].map(([from, texts]) => ({ text: texts.join(', '), from }));
}

const sourceText = ({ name, origin }: ProfileSource, [own]: Chain) =>
  name === own.name ? `${origin} ${name}` : name;

/** The effective value, one text per item. */
function itemsOf(key: keyof typeof LABELS, profile: Profile): string[] {
  if (key === 'network') return [...profile.allowedHosts];
  return textsOf(key, profile[key]);
}

function itemsSet(key: keyof typeof LABELS, definition: ProfileDefinition): string[] {
  if (key !== 'network') return textsOf(key, definition[key]);
  return typeof definition.network === 'object' ? definition.network.allow : [];
}

function textsOf(key: Key, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (key === 'workspace') {
    return (value as Profile['workspace']).map(({ name, path }) => `data/${name} is ${path}`);
  }
  if (key === 'cacheTtl') return [value === 0 ? 'not cached' : `${String(value)} s`];
  if (Array.isArray(value)) return value.map(String);
  if (typeof value === 'object') {
    return Object.entries(value).map(([name, one]) => `${name} ${JSON.stringify(one)}`);
  }
  if (typeof value === 'boolean') return [value ? 'yes' : 'no'];
  return [String(value)];
}

const originText = ({ origin }: Profile): string => (origin === BUILT_IN ? 'Pungi itself' : origin);
