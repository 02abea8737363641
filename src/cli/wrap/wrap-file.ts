import type { Command } from 'commander';
import { PungiError } from '../../base/errors.js';
import { checkToolsName } from '../../wrap/tools-folder/registrations.js';
import { withPungi } from '../act.js';
import { CHOICE, type WrapFlags } from './flags.js';
import { intoFolder } from './into-folder.js';
import { intoServer } from './into-server.js';
import { readOwnScript } from './read-script.js';
import { configOf, type End, LOOKING, option, subcommand, TOOLS } from './subcommand.js';

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
