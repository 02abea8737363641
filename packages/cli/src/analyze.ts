import { countText, oneLine, type Style } from '@pungi/core/base';
import type { OptionName } from '@pungi/core/config';
import type { Analysis, Finding } from '@pungi/core/contract';
import { Command } from 'commander';
import { type Acting, type Answer, act, type Parsed } from './act.js';
import { addConfigFlags } from './config-flags.js';
import { asText, readOwnFile, readStdin } from './own-files.js';

const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'venvsBasePath',
  'packageTimeoutMs',
  'uv',
];

const HELP = `
The code is read, never run. The checks are ruff's; it is installed once, into its own
environment.

Examples:
  pungi analyze script.py
  pungi analyze script.py --no-style --json
  git show HEAD:script.py | pungi analyze -

Exit codes:
  0  no errors were found; there may be warnings
  1  errors were found
  Others as in "pungi env": 2, 69, 70, 76, 77, 130`;

interface Flags extends Parsed {
  security: boolean;
  style: boolean;
  complexity: boolean;
}

export function analyzeCommand(end: (status: number) => void): Command {
  const command = new Command('analyze')
    .description('check a Python file without running it')
    .argument('<file>', 'the file, or "-" for standard input')
    .option('--no-security', 'skip security checks')
    .option('--no-style', 'skip style checks: names, idioms, layout, unused code')
    .option('--no-complexity', 'skip complexity checks')
    .option('--json', 'print the findings as JSON on standard output, and nothing else')
    .option('-q, --quiet', 'no progress on standard error (unless it is a terminal)');
  addConfigFlags(command, SETTINGS).addHelpText('after', HELP);
  return command.action(async (file: string, flags: Flags) =>
    end(await act(flags, (acting) => analyze(acting, file, flags))),
  );
}

async function analyze({ pungi, steps, style }: Acting, file: string, flags: Flags): Promise<Answer> {
  const isStdin = file === '-';
  const code = isStdin
    ? asText(await readStdin(steps.signal), 'Standard input')
    : asText(readOwnFile(file), file);
  const enabled = {
    enableSecurity: flags.security,
    enableStyle: flags.style,
    enableComplexity: flags.complexity,
  };
  const analysis = await pungi.analyze({ code, ...enabled }, steps);
  const text = screenOf(analysis, isStdin ? '<stdin>' : file, style);
  return { json: analysis, text, status: analysis.summary.bySeverity.error > 0 ? 1 : 0 };
}

const COLOURS = { error: 'red', warning: 'yellow', info: 'cyan' } as const;

/** Formats one finding per line, in the form that editors understand, then a summary. */
function screenOf({ findings, summary, tool }: Analysis, file: string, style: Style): string {
  const line = ({ line, column, severity, rule, message }: Finding) =>
    `${file}:${line}:${column} ${style(COLOURS[severity], severity)} ${rule} ${oneLine(message)}\n`;
  return findings.map(line).join('') + summarize(summary, tool);
}

function summarize({ total, omitted, bySeverity }: Analysis['summary'], tool: string): string {
  if (total === 0) return `${tool} found nothing.\n`;
  const { error, warning, info } = bySeverity;
  const counts = [countText(error, 'error'), countText(warning, 'warning'), `${info} for information`];
  const more = omitted > 0 ? `; ${omitted} are not listed` : '';
  return `${tool} found ${total}: ${counts.join(', ')}${more}.\n`;
}
