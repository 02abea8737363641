import type { Command } from 'commander';
import { oneLine, type Style } from '../../base/terminal.js';
import type { Profile } from '../../contract/profile.js';
import { loadProfiles } from '../../gate/profiles/load-profiles.js';
import { readConfig } from '../config-flags.js';
import { originText, type Rule, rulesOf } from './rules.js';
import { type End, subcommand } from './subcommand.js';

export const show = (end: End): Command =>
  subcommand<[name: string | undefined]>('show', end, {
    about: 'show the rules of a profile, with those that it inherits',
    operands: [['[name]', 'the default one if not given']],
    help: `  pungi profile show diego
  pungi profile show --json

After "←" is the profile that a rule is inherited from. What is not shown is not restricted.`,
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
  const more = rules.length === 0 ? ['  No rules: the sandbox and its limits hold.'] : [];
  const title = `${style('bold', name)}${description === '' ? '' : `  ${oneLine(description)}`}`;
  return [title, ...lines, ...more, ''].join('\n');
}
