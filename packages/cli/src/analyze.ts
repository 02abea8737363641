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
The code is read, never run. ruff finds what there is to find; it is installed once, into an
environment of its own.

Examples:
  pungi analyze script.py
  pungi analyze script.py --no-style --json
  git show HEAD:script.py | pungi analyze -

Exit codes:
  0  no errors were found; there may be warnings
  1  errors were found
  As those of "pungi env" otherwise: 2, 69, 70, 76, 77, 130`;

interface Flags extends Parsed {
  security: boolean;
  style: boolean;
  complexity: boolean;
}

export function analyzeCommand(end: (status: number) => void): Command {
  const command = new Command('analyze')
    .description('look at a Python file without running it')
    .argument('<file>', 'the file, or "-" for standard input')
    .option('--no-security', 'do not look for code that can be abused')
    .option('--no-style', 'do not look at names, idioms, layout and what is not used')
    .option('--no-complexity', 'do not look for functions that do too much')
    .option('--json', 'print the findings as JSON on standard output, and nothing else')
    .option('-q, --quiet', 'do not tell the steps on standard error (where it is no terminal)');
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

/** One line each, which editors and compilers' readers understand, then a sentence. */
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
