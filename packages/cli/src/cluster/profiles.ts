import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ProfileOwner, PushedProfiles } from '@pungi/cluster';
import { countText, fileProblem, PungiError } from '@pungi/core/base';
import { problemText, readDefinitions } from '@pungi/core/gate';
import { Command } from 'commander';
import type { Parsed } from '../act.js';
import { clusterOf } from '../cluster-settings.js';
import { readConfig } from '../config-flags.js';
import { tableOf } from '../terminal.js';
import { type End, subcommand } from './subcommand.js';

/** `pungi cluster profiles …` */
export function profilesCommand(end: End): Command {
  const command = new Command('profiles').description('share profiles with all front ends');
  for (const make of [push, list, remove]) command.addCommand(make(end));
  return command;
}

const push = (end: End): Command =>
  subcommand<[paths: string[]]>('push', end, {
    about: 'sign profiles and share them; those with the same names are replaced',
    operands: [['<paths...>', 'profiles files, or folders of them (*.yaml, *.yml)']],
    help: `  pungi cluster profiles push profiles.yaml --cluster tls://nats.example.org:4222 --creds prod/owner

Front ends use them for the next runs, within two seconds. A shared profile takes the place of one with the
same name in the profiles file of a front end. Secrets are refused.`,
    run: (_, flags, paths) =>
      withOwner(flags, async (owner) => {
        const definitions = new Map(paths.flatMap(filesIn).flatMap((file) => [...definitionsIn(file)]));
        const names = [...definitions.keys()];
        if (names.length === 0) throw new PungiError('INVALID_INPUT', 'There is no profile in these files.');
        const { version } = await owner.push(definitions);
        const text = `Shared ${countText(names.length, 'profile')} (${names.join(', ')}): version ${version}.\n`;
        return { json: { version, profiles: names }, text };
      }),
  });

const list = (end: End): Command =>
  subcommand<[]>('list', end, {
    about: 'show the shared profiles',
    help: '  pungi cluster profiles list --cluster tls://nats.example.org:4222 --creds prod/owner',
    run: ({ style, width }, flags) =>
      withOwner(flags, async (owner) => {
        const shared = await owner.list();
        return { json: shared, text: tableText(shared, { style, width }) };
      }),
  });

const remove = (end: End): Command =>
  subcommand<[names: string[]]>('remove', end, {
    about: 'share profiles no longer; those of front ends with the same names apply again',
    operands: [['<names...>', 'their names, as "pungi cluster profiles list" shows them']],
    help: '  pungi cluster profiles remove reports --cluster tls://nats.example.org:4222 --creds prod/owner',
    run: (_, flags, names) =>
      withOwner(flags, async (owner) => {
        const { version } = await owner.remove(names);
        const text = `Removed ${countText(names.length, 'profile')} (${names.join(', ')}): version ${version}.\n`;
        return { json: { version, removed: names }, text };
      }),
  });

async function withOwner<T>(flags: Parsed, work: (owner: ProfileOwner) => Promise<T>): Promise<T> {
  const { address, creds } = await clusterOf(readConfig(flags), 'owner', 'operator', 'front', 'worker');
  const { ProfileOwner } = await import('@pungi/cluster');
  const owner = await ProfileOwner.connect(address, creds);
  try {
    return await work(owner);
  } finally {
    await owner.close();
  }
}

function filesIn(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => /\.ya?ml$/.test(name));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `Could not read ${path}: ${fileProblem(error)}.`);
  }
}

function definitionsIn(file: string) {
  const { definitions, problems } = readDefinitions(file);
  if (problems.length === 0) return definitions;
  const message = `The profiles file ${file} cannot be used: ${problems.map(problemText).join('; ')}.`;
  throw new PungiError('INVALID_INPUT', message, { file, problems });
}

function tableText({ version, profiles }: PushedProfiles, options: Parameters<typeof tableOf>[2]): string {
  const rows = Object.entries(profiles).map(([name, { extends: parent = '', description = '' }]) => [
    ...[name, parent, description],
  ]);
  const columns = ['NAME', 'EXTENDS', 'DESCRIPTION'].map((heading) => ({ heading }));
  if (rows.length === 0) return `The cluster shares no profiles (version ${version}).\n`;
  return `${tableOf(columns, rows, options)}Version ${version}\n`;
}
