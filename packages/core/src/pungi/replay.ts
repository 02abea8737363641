import { auditError } from '../audit/audit-error.js';
import type { AuditRecorder } from '../audit/recorder.js';
import { outputSha256, verdictCode } from '../audit/run-facts.js';
import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { AuditEntry, Replay, RunInputs, RunRecord } from '../contract/audit.js';
import type { StepOptions } from '../contract/environment.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunOptions, RunRequest } from '../contract/run.js';
import type { Environments } from '../environments/environments.js';
import type { Runs } from '../runs.js';

interface Parts {
  environments: Environments;
  audit: AuditRecorder;
  runs: Runs;
}

/** Runs an old entry again: same code, inputs and packages, under today's rules. */
export async function replayEntry(entry: AuditEntry, parts: Parts, options: RunOptions): Promise<Replay> {
  const { venvName: _, ...request } = replayRequest(entry);
  const old = entry.data as RunRecord;
  const venvName = await placeOf(old, parts, options);
  const outcome = await parts.runs.run({ ...request, fresh: true }, options, {
    replay: { of: old.runId, venvName },
  });
  return { seq: entry.seq, runId: old.runId, outcome, ...compareReplay(entry, outcome) };
}

/** Returns the recorded environment if it is unchanged, else one created from its lock. */
async function placeOf(
  { environment, environmentLock }: RunRecord,
  { environments, audit }: Parts,
  { signal, onStep, caller }: RunOptions,
): Promise<string | undefined> {
  if (environmentLock === null) return undefined;
  const steps: StepOptions = {
    ...(signal && { signal }),
    ...(onStep && { onStep }),
    ...(caller && { caller }),
  };
  if (environment !== null && (await lockNow(environments, environment, steps)) === environmentLock)
    return environment;
  return environments.provideLocked(await audit.lockText(environmentLock), steps);
}

async function lockNow(environments: Environments, name: string, steps: StepOptions): Promise<string | null> {
  try {
    return (await environments.lockOf(await environments.resolve(name, steps)))?.sha256 ?? null;
  } catch {
    steps.signal?.throwIfAborted();
    return null; // missing or damaged: it is created again
  }
}

/** Returns the request that runs an entry again with the same code, inputs, limits and profile. */
export function replayRequest(entry: AuditEntry): RunRequest {
  const { code, codeSha256, inputs, limits, profile } = runOf(entry);
  if (code === null)
    throw cannot(entry, 'only the hash of its code was kept: it was too large, or AUDIT_STORE_CODE=false', {
      codeSha256,
    });
  const kept = typeof inputs === 'object' && inputs !== null ? inputs : {};
  if ('omitted' in kept) throw cannot(entry, 'its inputs were too large to keep', { inputs });
  if ('sources' in kept)
    throw cannot(entry, 'of the files that it was given only the hashes were kept', { inputs });
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
  if (entry.data.session !== undefined)
    throw cannot(entry, 'it was a run of a session, and depends on the runs before it');
  return entry.data;
}

const cannot = ({ seq }: AuditEntry, why: string, details: Record<string, unknown> = {}) =>
  new PungiError('INVALID_INPUT', `Entry ${seq} cannot be run again: ${why}.`, { seq, ...details });
