import { sha256 } from '../base/sha256.js';
import type { Outcome, Verdict } from '../contract/outcome.js';
import { canonicalJson } from './canonical-json.js';

/** SHA-256 over all that the code itself brought about: how it ended, what it wrote, and its value. */
export function outputSha256({ verdict, stdout, stderr, value }: Outcome): string {
  const output = { verdict: endingOf(verdict), stdout: stdout.text, stderr: stderr.text, value };
  return sha256(canonicalJson(output));
}

export const verdictCode = (verdict: Verdict): string | null => ('code' in verdict ? verdict.code : null);

/** Of a verdict what is the code's own: neither limits, which a replay may have from elsewhere, nor our words. */
function endingOf(verdict: Verdict) {
  const ending = { kind: verdict.kind, code: verdictCode(verdict) };
  if (verdict.kind === 'exited') return { ...ending, status: verdict.status };
  if (verdict.kind === 'killed') return { ...ending, signal: verdict.signal };
  if (verdict.kind === 'invalid') return { ...ending, issues: verdict.issues };
  if (verdict.kind !== 'python-error') return ending;
  const { type, message, line, column } = verdict.exception;
  return { ...ending, exception: { type, message, line, column } };
}
