import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { oneLine, PungiError, sha256 } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import { availabilityOf, listSources, readToolsFile, type ScriptSource, unregister } from '@pungi/wrap';
import type { Command } from 'commander';
import { withPungi } from '../act.js';
import { asText, readOwnFile } from '../own-files.js';
import { refuseMisspelt } from '../subcommands.js';
import { type Column, tableOf } from '../terminal.js';
import { inspect } from './inspect.js';
import {
  configOf,
  DISCOVERY_SETTINGS,
  type End,
  folderOf,
  subcommand,
  TOOLS,
  type ToolsFlags,
} from './subcommand.js';
import { wrap } from './wrap-file.js';

/** `pungi wrap …`: scripts as tools. An argument that is not a subcommand is a file. */
export function wrapCommand(end: End): Command {
  const command = wrap(end).usage('[options] <file... | command>').enablePositionalOptions();
  for (const make of [inspect, list, remove]) command.addCommand(make(end));
  return command.hook('preAction', (_, action) => {
    if (action === command) refuseMisspelt(command);
  });
}

const remove = (end: End): Command =>
  subcommand<[name: string], ToolsFlags>('remove', end, {
    about: 'stop offering a script',
    operands: [['<name>', 'as "pungi wrap list" shows it']],
    options: [TOOLS],
    help: `  pungi wrap remove report

The script itself is not touched; changes in its tools file are lost.`,
    async run(_, flags, name) {
      const removed = await unregister(folderOf(configOf(flags)), name);
      return { json: { name, removed }, text: `The tools of "${name}" are no longer offered.\n` };
    },
  });

const COLUMNS: readonly Column[] = [
  { heading: 'NAME' },
  { heading: 'TOOLS', align: 'right' },
  { heading: 'ENVIRONMENT' },
  { heading: 'PROFILE' },
  { heading: 'STATE' },
  { heading: 'SCRIPT' },
];

/** The part of an entry that is known without Python. */
interface Listed {
  name: string;
  kind: ScriptSource['kind'];
  script: string;
  state: 'unchanged' | 'changed' | 'missing' | 'broken' | 'found at start';
  problem: string | null;
  /** Tool names; null: they are found when the server starts. */
  tools: string[] | null;
  environment: string | null;
  profile: string | null;
}

const list = (end: End): Command =>
  subcommand<[], ToolsFlags>('list', end, {
    about: 'show the scripts of the tools folder',
    options: [TOOLS],
    settings: DISCOVERY_SETTINGS,
    help: `  pungi wrap list
  pungi wrap list --tools ./tools --json

STATE shows whether a script has changed since it was wrapped. The server reads changed scripts
again, and finds the tools of scripts in the folder itself.`,
    async run({ style, width }, flags) {
      const config = configOf(flags);
      const folder = folderOf(config);
      const { sources, problem, exists } = await listSources(folder);
      if (exists && problem !== null) throw new PungiError('INVALID_INPUT', problem);
      const scripts = await withTroubles(
        config,
        sources.map((source) => describe(folder, source)),
      );
      if (scripts.length === 0)
        return { json: { folder, scripts }, text: `Nothing is wrapped in ${folder}.\n` };
      const rows = scripts.map(({ name, tools, environment, profile, state, script }) => [
        oneLine(name),
        tools === null ? '?' : String(tools.length),
        oneLine(environment ?? ''),
        oneLine(profile ?? ''),
        state,
        oneLine(script),
      ]);
      const problems = scripts.flatMap(({ name, problem }) =>
        problem === null ? [] : [`${oneLine(`${name}: ${problem}`)}\n`],
      );
      return {
        json: { folder, scripts },
        text: tableOf(COLUMNS, rows, { style, width }) + problems.join(''),
      };
    },
  });

/** Checks environments and profiles only if a script names one. */
async function withTroubles(config: Config, scripts: Listed[]): Promise<Listed[]> {
  if (scripts.every(({ environment, profile }) => environment === null && profile === null)) return scripts;
  return withPungi(config, (pungi) =>
    Promise.all(
      scripts.map(async (one) => ({
        ...one,
        problem: one.problem ?? (await availabilityOf(pungi, one)).trouble,
      })),
    ),
  );
}

function describe(folder: string, { name, kind, origin }: ScriptSource): Listed {
  const path = join(folder, origin);
  const plain = { name, kind, script: path, problem: null, tools: null, environment: null, profile: null };
  if (kind === 'script') return { ...plain, state: 'found at start' };
  try {
    const file = readToolsFile(asText(readOwnFile(path), path), path);
    const script = resolve(dirname(path), file.script);
    const tools = file.tools.filter(({ hidden }) => hidden !== true).map((tool) => tool.name);
    const { environment, profile } = file;
    return { ...plain, script, tools, environment, profile, state: stateOf(script, file.sha256) };
  } catch (error) {
    return { ...plain, state: 'broken', problem: PungiError.from(error).message };
  }
}

function stateOf(script: string, known: string): Listed['state'] {
  try {
    return sha256(new TextDecoder().decode(readFileSync(script))) === known ? 'unchanged' : 'changed';
  } catch {
    return 'missing';
  }
}
