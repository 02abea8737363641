import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { AuditEntry, Replay, RunInputs, RunRecord } from '../contract/audit.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunRequest } from '../contract/run.js';
import { auditError } from './audit-error.js';
import { outputSha256, verdictCode } from './run-facts.js';

/** Returns the request that runs an entry again with the same code, inputs, limits and profile. */
export function replayRequest(entry: AuditEntry): RunRequest {
  const { code, codeSha256, inputs, limits, profile } = runOf(entry);
  if (code === null)
    throw cannot(entry, 'only the hash of its code was kept: it was too large, or AUDIT_STORE_CODE=false', {
      codeSha256,
    });
  if (typeof inputs === 'object' && inputs !== null && 'omitted' in inputs)
    throw cannot(entry, 'its inputs were too large to keep', { inputs });
  if (sha256(code) !== codeSha256)
    throw auditError('damaged', `The code of entry ${entry.seq} does not have its hash.`, { seq: entry.seq });
  return {
    ...(inputs as RunInputs),
    code,
    ...(limits !== null && { limits }),
    ...(profile !== null && { profile }),
  };
}

/** Compares the outcome of a replay with the recorded one, of which the hash is known. */
export function compareReplay(entry: AuditEntry, outcome: Outcome): Pick<Replay, 'same' | 'differences'> {
  const { verdict: then, outputSha256: hash } = runOf(entry);
  const now = outcome.verdict;
  const detail = 'message' in now ? `: ${now.message}` : '.';
  if (outcome.isolation.tier === null) return { same: false, differences: [`It was not run again${detail}`] };
  const differences: string[] = [];
  if (now.kind !== then.kind || verdictCode(now) !== then.code)
    differences.push(`It ended as "${then.kind}" then, and as "${now.kind}" now${detail}`);
  else if (outputSha256(outcome) !== hash)
    differences.push('It ended in the same way, but its output or its value differs.');
  return { same: differences.length === 0, differences };
}

function runOf(entry: AuditEntry): RunRecord {
  if (entry.kind !== 'run') throw cannot(entry, `expected a run, got an entry of the kind "${entry.kind}"`);
  if (entry.data.outputSha256 === null)
    throw cannot(entry, `nothing was run then: it ended as "${entry.data.verdict.kind}"`);
  return entry.data;
}

const cannot = ({ seq }: AuditEntry, why: string, details: Record<string, unknown> = {}) =>
  new PungiError('INVALID_INPUT', `Entry ${seq} cannot be run again: ${why}.`, { seq, ...details });
