import { countText, type Format, PungiError, revealedLine, similarName } from '@pungi/core/base';
import { lint, RULES, readOffer, type Severity } from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { FAILED, type LintFlags } from './flags.js';
import { withServer } from './server.js';

const COLOURS: Record<Severity, Format> = { error: 'red', warning: 'yellow', advice: 'dim' };

/** `pungi test lint`. */
export async function lintServer(
  argv: readonly string[],
  flags: LintFlags,
  context: CommandContext,
): Promise<Answer> {
  flags.ignore?.forEach(knownRule);
  return withServer(argv, flags, context, async (connection) => {
    const { steps, style } = context;
    const offer = await readOffer(connection, { timeoutMs: flags.timeout, signal: steps.signal });
    const remarks = lint(offer).filter(({ rule }) => !flags.ignore?.includes(rule));
    const count = (severity: Severity) => remarks.filter((one) => one.severity === severity).length;
    const counts = { errors: count('error'), warnings: count('warning'), advice: count('advice') };
    const { server, tools, prompts, resources, templates } = offer;
    const isBad = counts.errors > 0 || (flags.strict === true && counts.warnings > 0);
    const checked = [
      countText(tools.length, 'tool'),
      countText(resources.length + templates.length, 'resource'),
      countText(prompts.length, 'prompt'),
    ].join(', ');
    const found = [
      countText(counts.errors, 'error'),
      countText(counts.warnings, 'warning'),
      `${counts.advice} advice`,
    ].join(', ');
    const lines = [
      ...remarks.map(
        ({ severity, rule, subject, message }) =>
          `${style(COLOURS[severity], severity.padEnd(7))} ${style('bold', revealedLine(subject))}: ${revealedLine(message)} ${style('dim', `[${rule}]`)}`,
      ),
      `${style(isBad ? 'red' : 'green', isBad ? '✗' : '✓')} ${revealedLine(server.name)}: ${checked}; ${remarks.length === 0 ? 'no findings' : found}`,
    ];
    return {
      json: { server, counts, remarks },
      text: lines.map((line) => `${line}\n`).join(''),
      status: isBad ? FAILED : 0,
    };
  });
}

function knownRule(name: string): void {
  if ((RULES as readonly string[]).includes(name)) return;
  const close = similarName(name, RULES);
  const advice = close === undefined ? `expected one of ${RULES.join(', ')}` : `did you mean ${close}?`;
  throw new PungiError('INVALID_INPUT', `--ignore: there is no rule ${name}; ${advice}`);
}
