import { Command } from 'commander';
import { styleFor } from '../../base/terminal.js';
import type { OptionName } from '../../config/schema.js';
import { addConfigFlags, configSources } from '../config-flags.js';
import { examine } from './examine.js';
import { screenOf } from './screen.js';

const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'cgroups',
  'maxTotalMemoryMb',
  'preloadModules',
  'maxMemoryMb',
  'venvsBasePath',
  'defaultVenvName',
  'uv',
];

export function doctorCommand(end: (status: number) => void): Command {
  const command = new Command('doctor')
    .description('look at everything a run depends on, make a real one, and say what to do')
    .option('--json', 'print the findings as JSON');
  addConfigFlags(command, SETTINGS).addHelpText(
    'after',
    '\nExit codes:\n  0  runs work here\n  1  they do not',
  );
  return command.action(async (parsed: Record<string, unknown>) => {
    const examination = await examine(configSources(parsed));
    const text = parsed['json']
      ? `${JSON.stringify(examination, null, 2)}\n`
      : screenOf(examination, styleFor(process.stdout));
    process.stdout.write(text);
    end(examination.healthy ? 0 : 1);
  });
}
