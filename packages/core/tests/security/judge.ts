import { Outcome } from '../../src/contract/outcome.js';
import type { Attack, AttackTier, Expected } from './attack.js';
import type { RowResult } from './table-run.js';

/** No outcome is larger, whatever the run says of itself. */
const MOST_CHARACTERS = 1_000_000;
/** Displays have room of their own. */
const MOST_DISPLAYED = 6.5 * 1024 * 1024;

/** Everything that is wrong with a row, as sentences; none if the sandbox held. */
export function judge(attack: Attack, tier: AttackTier, canary: string, result: RowResult): string[] {
  const { outcome, problems, tookMs } = result;
  if (outcome === null) return problems;
  const expected = (tier === 'landlock' && attack.expectInLandlock) || attack.expect;
  return [...problems, ...mismatches(expected, outcome), ...alwaysWrong(tier, canary, outcome, tookMs)];
}

function mismatches(expected: Expected, outcome: Outcome): string[] {
  const { verdict, stdout, stderr, usage } = outcome;
  const wrong: string[] = [];
  const kinds: readonly string[] = [expected.verdict].flat();
  if (!kinds.includes(verdict.kind)) {
    const said = stderr.text === '' ? '' : `, stderr ${brief(stderr.text)}`;
    wrong.push(`verdict ${brief(JSON.stringify(verdict))} instead of ${kinds.join(' or ')}${said}`);
  }
  if (expected.stdout !== undefined && !matches(expected.stdout, stdout.text)) {
    wrong.push(`stdout ${brief(JSON.stringify(stdout.text))} instead of ${expected.stdout}`);
  }
  for (const [name, value] of Object.entries(expected.details ?? {})) {
    const actual = (verdict as Record<string, unknown>)[name];
    if (actual !== value)
      wrong.push(`${name} is ${JSON.stringify(actual)} instead of ${JSON.stringify(value)}`);
  }
  if (expected.exception !== undefined) {
    const type = 'exception' in verdict ? (verdict.exception?.type ?? '') : '';
    if (!matches(expected.exception, type))
      wrong.push(`exception "${brief(type)}" instead of ${expected.exception}`);
  }
  if (usage.peakMemoryMb < (expected.minPeakMemoryMb ?? 0))
    wrong.push(`peak memory of only ${usage.peakMemoryMb} MB`);
  const own = expected.also?.(outcome);
  return own === undefined ? wrong : [...wrong, own];
}

function alwaysWrong(tier: AttackTier, canary: string, outcome: Outcome, tookMs: number): string[] {
  const wrong: string[] = [];
  const whole = JSON.stringify(outcome);
  const shape = Outcome.safeParse(outcome);
  if (!shape.success) wrong.push(`not an outcome: ${brief(shape.error.message)}`);
  if (whole.includes(canary))
    wrong.push(`a secret shows: ${brief(whole.slice(Math.max(0, whole.indexOf(canary) - 150)))}`);
  for (const word of ['BREACH', 'NOT-SANDBOXED']) {
    if (outcome.stdout.text.includes(word)) wrong.push(brief(outcome.stdout.text));
  }
  const displayed = JSON.stringify(outcome.displays ?? []).length;
  if (displayed > MOST_DISPLAYED) wrong.push(`displays of ${displayed} characters`);
  if (whole.length - displayed > MOST_CHARACTERS) wrong.push(`an outcome of ${whole.length} characters`);
  const hasRun = outcome.verdict.kind !== 'invalid' && outcome.verdict.kind !== 'denied';
  if (hasRun && outcome.isolation.tier !== tier) wrong.push(`ran in the tier ${outcome.isolation.tier}`);
  // The engine cuts off a supervisor that does not answer after the deadline, and then has no figures.
  if (outcome.verdict.kind === 'timed-out' && outcome.usage.peakMemoryMb === 0)
    wrong.push(`the supervisor did not answer: cut off after ${tookMs} ms`);
  return [...new Set(wrong)];
}

const matches = (expected: string | RegExp, actual: string) =>
  typeof expected === 'string' ? actual === expected : expected.test(actual);

const brief = (text: string) => (text.length > 600 ? `${text.slice(0, 300)} … ${text.slice(-250)}` : text);
