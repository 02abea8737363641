import { join } from 'node:path';
import type { Pungi } from '@pungi/core';
import { countText, oneLine, PungiError, type Style } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { ToolsFile } from '@pungi/core/contract';
import {
  checkToolsName,
  folderFiles,
  mcpServers,
  placeFor,
  pythonCommand,
  REQUIREMENTS_FILE,
  readRegistered,
  register,
  TOOLS_FILE,
  toolsNameOf,
  type WrapPlace,
  type Wrapped,
  Wrapping,
  wrapScript,
  writeFolder,
} from '@pungi/wrap';
import type { Command } from 'commander';
import { type Answer, type Surroundings, withPungi } from '../act.js';
import { includedPaths, missingLines, type OwnScript, readOwnScript } from './read-script.js';
import {
  CHOICE,
  configOf,
  type End,
  folderOf,
  LOOKING,
  option,
  subcommand,
  TOOLS,
  type WrapFlags,
} from './subcommand.js';

/** `pungi wrap FILE`. */
export const wrap = (end: End): Command =>
  subcommand<[file: string], WrapFlags>('wrap', end, {
    about: 'make MCP tools of a Python script',
    operands: [['<file>', 'the Python script']],
    options: [
      option('-o, --output <folder>', 'write a folder that serves the tools with nothing but Python'),
      option('-n, --name <name>', 'the name of the tools as a whole; else that of the file'),
      ...CHOICE,
      option('-e, --env <name>', 'in the server: the environment that it runs in (see: pungi env)'),
      option('-p, --profile <name>', 'in the server: the profile that it runs under (see: pungi profile)'),
      option('-f, --force', 'write a folder of this script anew, or take a name from another script'),
      TOOLS,
    ],
    settings: LOOKING,
    help: `  pungi wrap inspect report.py
  pungi wrap report.py
  pungi wrap report.py -o report-mcp
  pungi wrap report.py --functions total,by_region --env ml
  pungi wrap list

The tools are the functions of the script, or its command line. The script is read, never run.
Without -o, it stays where it is: "pungi serve" offers its tools, by a file NAME.tools.json in the
tools folder, and each call runs in the sandbox and in the environment of the script. With -o, a
folder is written that serves the tools with nothing but Python.
Wrapped again, a script keeps what you have changed in its tools file: names, descriptions, what is
hidden, annotations.`,
    async run(surroundings, flags, file) {
      const own = readOwnScript(file);
      if (flags.output !== undefined && (flags.env ?? flags.profile) !== undefined) throw onlyInServer();
      if (flags.name !== undefined) checkToolsName(flags.name);
      const config = configOf(flags);
      const work =
        flags.output === undefined ? intoServer(own, config, flags) : intoFolder(own, flags.output, flags);
      return withPungi(config, (pungi) => work(pungi, surroundings));
    },
  });

const onlyInServer = () =>
  new PungiError(
    'INVALID_INPUT',
    'A folder runs with whatever Python starts it: --env and --profile are for the server, without -o.',
  );

const INSTALL = `The script needs packages, for the Python that serves it: ${pythonCommand()} -m pip install -r ${REQUIREMENTS_FILE}`;

/** `pungi wrap FILE -o FOLDER`: a folder that runs anywhere. */
function intoFolder(own: OwnScript, output: string, flags: WrapFlags): Wrap {
  const { filename } = own;
  const place = placeFor(output, filename, flags.force ?? false);
  return async (pungi, surroundings) => {
    const { old } = place;
    const name = flags.name ?? old?.name ?? toolsNameOf(filename);
    const wrapped = await wrapOwn(pungi, surroundings, own, flags, { name, script: filename, old });
    const { file, look } = wrapped;
    const files = folderFiles(place.folder, file, look);
    writeFolder(place, files);
    const client = mcpServers({
      name: file.name,
      command: pythonCommand(),
      args: [join(place.folder, 'wrapper.py')],
    });
    const names = ownNames(file);
    const paths = files.map(({ path }) => path);
    const text = [
      toolsText(wrapped, names, paths.includes(REQUIREMENTS_FILE) ? [INSTALL] : [], surroundings.style),
      `Wrote ${countText(files.length, 'file')} to ${output}: ${countOffered(names)} of ${filename}.\n`,
      `For clients that start their servers themselves:\n${JSON.stringify(client, null, 2)}\n`,
    ];
    const json = {
      folder: place.folder,
      files: paths,
      toolsFile: join(place.folder, TOOLS_FILE),
      contents: file,
      client,
    };
    return { json, text: text.join('') };
  };
}

/** `pungi wrap FILE`: the script stays where it is, and the server offers its tools. */
function intoServer(own: OwnScript, config: Config, flags: WrapFlags): Wrap {
  const folder = folderOf(config);
  const name = flags.name ?? toolsNameOf(own.filename);
  // In it a person may have given the tools another name than that of the file.
  const old = ownRegistration(folder, name, own.path, flags.force ?? false);
  return async (pungi, surroundings) => {
    const wrapped = await wrapOwn(pungi, surroundings, own, flags, {
      name: old?.name ?? name,
      script: own.path,
      old,
      since: old?.since ?? new Date().toISOString(),
    });
    const { file, look, environment } = wrapped;
    const missing = missingLines(look.missingImports, environment);
    const toolsFile = register(folder, name, file);
    const names = await namesOffered(pungi, name, own.path);
    const again = old === undefined ? '' : ' again';
    const said = `Wrapped ${own.filename}${again} as "${name}": "pungi serve" offers ${countOffered(names)} of it.\n`;
    const where = `The tools folder is ${folder}.\n`;
    return {
      json: { toolsFile, tools: [...names.values()], contents: file },
      text: toolsText(wrapped, names, missing, surroundings.style) + said + where,
    };
  };
}

/** As a server that starts now would offer them, beside all that is in the folder already. */
async function namesOffered(pungi: Pungi, name: string, path: string): Promise<OfferedNames> {
  const wrapping = new Wrapping(pungi);
  try {
    await wrapping.scripts.look();
    const own = [...wrapping.scripts.tools.values()].filter(
      ({ group, script }) => group === name && script.path === path,
    );
    return new Map(own.map((tool) => [tool.spec.name, tool.name]));
  } finally {
    await wrapping.close();
  }
}

/** What is registered under the name, where it is the same script. */
function ownRegistration(folder: string, name: string, path: string, force: boolean): ToolsFile | undefined {
  const found = foundUnder(folder, name, force);
  if (found === undefined || found.script === path) return found;
  if (force) return undefined;
  const message = `"${name}" is the name of the tools of ${found.script}; choose another with --name, or --force takes it.`;
  throw new PungiError('INVALID_INPUT', message, { name, script: found.script });
}

function foundUnder(folder: string, name: string, force: boolean): ToolsFile | undefined {
  try {
    return readRegistered(folder, name);
  } catch (error) {
    // A file that cannot be read has nothing that could be kept.
    if (force) return undefined;
    const { message, details } = PungiError.from(error);
    throw new PungiError('INVALID_INPUT', `${message} Fix it, or --force writes it anew.`, { ...details });
  }
}

/** What is done with a Pungi, after all that can be refused without one. */
type Wrap = (pungi: Pungi, surroundings: Surroundings) => Promise<Answer>;

/** Looks at the script and makes its tools file, in place of an old one where there is one. */
async function wrapOwn(
  pungi: Pungi,
  { steps }: Surroundings,
  own: OwnScript,
  { mode, functions, include, env, profile }: WrapFlags,
  place: WrapPlace,
): Promise<Wrapped> {
  const choice = { mode, functions, include: includedPaths(own, include), environment: env, profile };
  await pungi.ready();
  return wrapScript(pungi, own, choice, place, steps);
}

/** What clients call each tool, by the name that it has in its tools file. Hidden ones are not among them. */
type OfferedNames = ReadonlyMap<string, string>;

/** As clients see them that have these tools alone. */
const ownNames = ({ tools }: ToolsFile): OfferedNames =>
  new Map(tools.filter(({ hidden }) => hidden !== true).map(({ name }) => [name, name]));

/** A line for each tool, then what was left out, what is worth knowing and what is still to be done. */
function toolsText({ file }: Wrapped, names: OfferedNames, toDo: readonly string[], style: Style): string {
  const remarkLines = (isSkipped: boolean, mark: string) =>
    file.remarks
      .filter((remark) => remark.isSkipped === isSkipped)
      .map(({ line, name, reason }) => `${mark} line ${line}, ${oneLine(`${name}: ${reason}`)}`);
  const lines = [
    ...file.tools.map(({ name, description, hidden }) =>
      hidden === true
        ? `${style('dim', '·')} ${name}${style('dim', ' (hidden)')}`
        : `${style('green', '✓')} ${names.get(name) ?? name}${style('dim', textAfter(description))}`,
    ),
    ...remarkLines(true, `${style('yellow', '·')} left out:`),
    ...remarkLines(false, `${style('dim', '·')} worth knowing:`),
    ...toDo.map((line) => `${style('yellow', '!')} ${oneLine(line)}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** As many tools as clients see. */
const countOffered = (names: OfferedNames): string => countText(names.size, 'tool');

const textAfter = (description: string) => {
  const [first = ''] = description.trim().split(/\n\s*\n/, 1);
  return first === '' ? '' : `  ${oneLine(first)}`;
};
