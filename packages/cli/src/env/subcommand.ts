import type { OptionName } from '@pungi/core/config';
import { Command, Option } from 'commander';
import { type Acting, type Answer, act, type Parsed } from '../act.js';
import { addConfigFlags } from '../config-flags.js';
import { ENV_EXIT_CODES_HELP } from '../exit-codes.js';

export type End = (status: number) => void;

/** Settings of every command. The interpreter is not among the flags: `--python` is a version here. */
const WHERE: readonly OptionName[] = [
  'venvsBasePath',
  'defaultVenvName',
  'tier',
  'allowUnsandboxed',
  'cluster',
  'clusterName',
  'creds',
];
/** Settings of commands that install packages. */
export const INSTALLING: readonly OptionName[] = [
  'packageTimeoutMs',
  'packageSources',
  'maxEnvironments',
  'maxEnvironmentMb',
  'uv',
];
/** Settings of the audit trail and the log: changes are recorded. */
const LOGGING: readonly OptionName[] = ['audit', 'auditDir', 'auditSync', 'logLevel', 'logFormat', 'logFile'];

interface Subcommand<Operands extends unknown[], Flags extends Parsed> {
  about: string;
  /** For example `<name> [packages...]`. */
  operands: [name: string, about: string][];
  options?: Option[];
  settings?: readonly OptionName[];
  help: string;
  run(acting: Acting, flags: Flags, ...operands: Operands): Promise<Answer>;
}

/** Makes one command of `pungi env`, with the flags that all of them share. */
export function subcommand<Operands extends unknown[], Flags extends Parsed = Parsed>(
  name: string,
  end: End,
  { about, operands, options = [], settings = [], help, run }: Subcommand<Operands, Flags>,
): Command {
  const command = new Command(name).description(about);
  for (const [operand, meaning] of operands) command.argument(operand, meaning);
  for (const option of options) command.addOption(option);
  command
    .option('--json', 'print the result as JSON on standard output, and nothing else')
    .option('-q, --quiet', 'no progress on standard error (unless it is a terminal)');
  addConfigFlags(command, [...WHERE, ...settings, ...LOGGING]);
  command.addHelpText('after', `\nExamples:\n${help}\n${ENV_EXIT_CODES_HELP}`);
  return command.action(async () => {
    const flags = command.opts<Flags>();
    // `--python` is a version here, not the interpreter setting of the same name.
    const status = await act({ ...flags, python: undefined }, (acting) =>
      run(acting, flags, ...(command.processedArgs as Operands)),
    );
    end(status);
  });
}

export const option = (flags: string, about: string): Option => new Option(flags, about);
