import { basename, join } from 'node:path';
import type { Pungi } from '@pungi/core';
import { countText, oneLine, PungiError, type Style } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { ToolsFile } from '@pungi/core/contract';
import {
  checkToolsName,
  folderFiles,
  mcpServers,
  ownNames,
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
import { type Answer, type CommandContext, withPungi } from '../act.js';
import {
  includedPaths,
  isProgram,
  keepProgram,
  missingLines,
  type OwnScript,
  readOwnScript,
  readProgram,
} from './read-script.js';
import {
  CHOICE,
  configOf,
  DISCOVERY_SETTINGS,
  type End,
  folderOf,
  option,
  subcommand,
  TOOLS,
  type WrapFlags,
} from './subcommand.js';

/** `pungi wrap FILE`. */
export const wrap = (end: End): Command =>
  subcommand<[files: string[]], WrapFlags>('wrap', end, {
    about: 'turn a Python script into MCP tools',
    operands: [
      ['<file...>', 'the Python script, or with --env a program that is installed there; several with -o'],
    ],
    options: [
      option('-o, --output <folder>', 'write a standalone folder that serves the tools with only Python'),
      option('-n, --name <name>', 'the name of the script in the server; default: its file name'),
      ...CHOICE,
      option(
        '-e, --env <name>',
        'the environment it is loaded in; the server runs it there (see: pungi env)',
      ),
      option('-p, --profile <name>', 'in the server: the profile it runs under (see: pungi profile)'),
      option('-f, --force', 'overwrite a folder of this script, or take a name from another script'),
      TOOLS,
    ],
    settings: DISCOVERY_SETTINGS,
    help: `  pungi wrap inspect report.py
  pungi wrap report.py
  pungi wrap report.py -o report-mcp
  pungi wrap report.py sales.py -o office-mcp
  pungi wrap report.py --functions total,by_region --env ml
  pungi wrap pygmentize --env ml
  pungi wrap pygmentize --env ml -o pygmentize-mcp
  pungi wrap list

The tools are the functions of the script, or its command line. To find them, the script is loaded
in the sandbox.
Without -o, it stays where it is: "pungi serve" offers its tools, by a file NAME.tools.json in the
tools folder, and each call runs in the sandbox and in the environment of the script. With -o, a
folder is written that serves the tools with nothing but Python.
Wrapped again, a script keeps what you have changed in its tools file: names, descriptions, what is
hidden, annotations.`,
    async run(context, flags, files) {
      if (files.length > 1) checkSeveral(flags);
      if (flags.output !== undefined && flags.profile !== undefined) throw onlyInServer();
      if (flags.name !== undefined) checkToolsName(flags.name);
      const config = configOf(flags);
      const { env } = flags;
      if (env !== undefined && files.some(isProgram))
        return withPungi(config, async (pungi) => {
          const owns: OwnScript[] = [];
          for (const file of files)
            owns.push(
              isProgram(file) ? await readProgram(pungi, file, env, folderOf(config)) : readOwnScript(file),
            );
          if (flags.output === undefined) keepProgram(owns[0]!);
          return wrapInto(owns, config, flags)(pungi, context);
        });
      const work = wrapInto(files.map(readOwnScript), config, flags);
      return withPungi(config, (pungi) => work(pungi, context));
    },
  });

/** What a flag would mean for several scripts is anybody's guess. */
function checkSeveral({ output, name, functions, include }: WrapFlags): void {
  if (output === undefined)
    throw new PungiError(
      'INVALID_INPUT',
      'Several scripts go into one folder (-o): without -o, wrap them one by one.',
    );
  if (name !== undefined || functions !== undefined || include !== undefined)
    throw new PungiError(
      'INVALID_INPUT',
      '--name, --functions and --include apply to one script: wrap it alone.',
    );
}

const wrapInto = (owns: readonly OwnScript[], config: Config, flags: WrapFlags): Wrap =>
  flags.output === undefined ? intoServer(owns[0]!, config, flags) : intoFolder(owns, flags.output, flags);

const nameOf = (own: OwnScript): string => own.name ?? toolsNameOf(own.filename);

const onlyInServer = () =>
  new PungiError(
    'INVALID_INPUT',
    '--profile applies to the server: a folder (-o) runs with the rights of whoever starts it.',
  );

const INSTALL = `Install the script's packages into the Python that serves it: ${pythonCommand()} -m pip install -r ${REQUIREMENTS_FILE}`;

/** `pungi wrap FILE… -o FOLDER`: writes a folder that runs anywhere. */
function intoFolder(owns: readonly OwnScript[], output: string, flags: WrapFlags): Wrap {
  const filenames = owns.map(({ filename }) => filename);
  const place = placeFor(output, filenames, flags.force ?? false);
  return async (pungi, context) => {
    const wrapped: Wrapped[] = [];
    for (const own of owns) {
      const { filename } = own;
      const old = place.old.get(filename);
      const name = flags.name ?? old?.name ?? nameOf(own);
      const found = await wrapOwn(pungi, context, own, flags, { name, script: filename, old });
      // A module of a package lies in the folders of that package.
      const within = found.look.package === undefined ? '' : `${found.look.package.replaceAll('.', '/')}/`;
      const file = { ...found.file, script: `${within}${filename}`, environment: null };
      wrapped.push({ ...found, file });
    }
    const contents = ownNames(wrapped.map(({ file }) => file));
    const scripts = owns.map(({ requirement }, index) => ({
      look: wrapped[index]!.look,
      file: contents[index]!,
      requirement,
    }));
    const name = owns.length === 1 ? contents[0]!.name : basename(place.folder);
    const files = folderFiles(place.folder, name, scripts);
    writeFolder(place, files);
    return folderAnswer(
      output,
      place.folder,
      name,
      files,
      wrapped.map((one, index) => ({ ...one, file: contents[index]! })),
      context.style,
    );
  };
}

function folderAnswer(
  output: string,
  folder: string,
  name: string,
  files: readonly { path: string }[],
  wrapped: readonly Wrapped[],
  style: Style,
): Answer {
  const client = mcpServers({ name, command: pythonCommand(), args: [join(folder, 'wrapper.py')] });
  const paths = files.map(({ path }) => path);
  const filenames = wrapped.map(({ look }) => look.filename).join(', ');
  const offered = wrapped.map(({ file }) => offeredNames(file));
  const count = countText(
    offered.reduce((sum, { size }) => sum + size, 0),
    'tool',
  );
  const toDo = paths.includes(REQUIREMENTS_FILE) ? [INSTALL] : [];
  const text = [
    ...wrapped.map((one, index) =>
      toolsText(one, offered[index]!, index === wrapped.length - 1 ? toDo : [], style),
    ),
    `Wrote ${countText(files.length, 'file')} to ${output}: ${count} of ${filenames}.\n`,
    `To connect an MCP client, paste into its configuration:\n${JSON.stringify(client, null, 2)}\n`,
  ];
  const toolsFiles = paths.filter((path) => path.endsWith(TOOLS_FILE)).map((path) => join(folder, path));
  const contents = wrapped.map(({ file }) => file);
  const single =
    wrapped.length === 1 ? { toolsFile: toolsFiles[0], contents: contents[0] } : { toolsFiles, contents };
  return { json: { folder, files: paths, ...single, client }, text: text.join('') };
}

/** `pungi wrap FILE`: the script stays in place, and the server offers its tools. */
function intoServer(own: OwnScript, config: Config, flags: WrapFlags): Wrap {
  const folder = folderOf(config);
  const name = flags.name ?? nameOf(own);
  // Its tools file may have renamed the tools.
  const old = ownRegistration(folder, name, own.path, flags.force ?? false);
  return async (pungi, context) => {
    const wrapped = await wrapOwn(pungi, context, own, flags, {
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
    const summary = `Wrapped ${own.filename}${again} as "${name}": "pungi serve" offers ${countOffered(names)} of it.\n`;
    const where = `The tools folder is ${folder}.\n`;
    return {
      json: { toolsFile, tools: [...names.values()], contents: file },
      text: toolsText(wrapped, names, missing, context.style) + summary + where,
    };
  };
}

const NAMING_PATIENCE_MS = 600_000;

/** Names the tools as a server that starts now would, next to all others in the folder. */
async function namesOffered(pungi: Pungi, name: string, path: string): Promise<OfferedNames> {
  const wrapping = new Wrapping(pungi, { areFilesTrusted: true, patienceMs: NAMING_PATIENCE_MS });
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

/** Returns what is registered under the name if it is the same script. */
function ownRegistration(folder: string, name: string, path: string, force: boolean): ToolsFile | undefined {
  const found = foundUnder(folder, name, force);
  if (found === undefined || found.script === path) return found;
  if (force) return undefined;
  const message = `The name "${name}" belongs to ${found.script}: choose another with --name, or take it with --force.`;
  throw new PungiError('INVALID_INPUT', message, { name, script: found.script });
}

function foundUnder(folder: string, name: string, force: boolean): ToolsFile | undefined {
  try {
    return readRegistered(folder, name);
  } catch (error) {
    // An unreadable file has no changes to keep.
    if (force) return undefined;
    const { message, details } = PungiError.from(error);
    throw new PungiError('INVALID_INPUT', `${message} Fix it, or overwrite it with --force.`, { ...details });
  }
}

/** The part that needs a Pungi, after everything that can be refused without one. */
type Wrap = (pungi: Pungi, context: CommandContext) => Promise<Answer>;

/** Discovers the tools of the script and makes its tools file, based on an old one if it exists. */
async function wrapOwn(
  pungi: Pungi,
  { steps }: CommandContext,
  own: OwnScript,
  { mode, functions, include, env, profile }: WrapFlags,
  place: WrapPlace,
): Promise<Wrapped> {
  const choice = { mode, functions, include: includedPaths(own, include), environment: env, profile };
  await pungi.ready();
  return wrapScript(pungi, own, choice, place, steps);
}

/** Client-visible names of the tools, by their names in the tools file. Hidden tools are left out. */
type OfferedNames = ReadonlyMap<string, string>;

/** The names for a client that has only these tools. */
const offeredNames = ({ tools }: ToolsFile): OfferedNames =>
  new Map(tools.filter(({ hidden }) => hidden !== true).map(({ name }) => [name, name]));

/** Formats a line per tool, then what was left out, notes, and what remains to do. */
function toolsText(
  { file, look }: Wrapped,
  names: OfferedNames,
  toDo: readonly string[],
  style: Style,
): string {
  const remarkLines = (isSkipped: boolean, mark: string) =>
    file.remarks
      .filter((remark) => remark.isSkipped === isSkipped)
      .map(({ line, name, reason }) => `${mark} line ${line}, ${oneLine(`${name}: ${reason}`)}`);
  const mark = look.problem === null ? style('green', '✓') : style('red', '✗');
  const problem = look.problem === null ? [] : [look.problem];
  const lines = [
    ...file.tools.map(({ name, description, hidden }) =>
      hidden === true
        ? `${style('dim', '·')} ${name}${style('dim', ' (hidden)')}`
        : `${mark} ${names.get(name) ?? name}${style('dim', textAfter(description))}`,
    ),
    ...remarkLines(true, `${style('yellow', '·')} left out:`),
    ...remarkLines(false, `${style('dim', '·')} note:`),
    ...[...problem, ...toDo].map((line) => `${style('yellow', '!')} ${oneLine(line)}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Counts the tools that clients see. */
const countOffered = (names: OfferedNames): string => countText(names.size, 'tool');

const textAfter = (description: string) => {
  const [first = ''] = description.trim().split(/\n\s*\n/, 1);
  return first === '' ? '' : `  ${oneLine(first)}`;
};
