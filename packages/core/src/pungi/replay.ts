import type { AuditRecorder } from '../audit/recorder.js';
import { compareReplay, replayRequest } from '../audit/replay.js';
import type { AuditEntry, Replay, RunRecord } from '../contract/audit.js';
import type { StepOptions } from '../contract/environment.js';
import type { RunOptions } from '../contract/run.js';
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
