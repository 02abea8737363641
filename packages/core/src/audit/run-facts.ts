import { basename } from 'node:path';
import { sha256 } from '../base/sha256.js';
import { surelyFits } from '../base/utf8.js';
import type { AuditRecord, EnvironmentLock, OmittedInputs, RunInputs, RunRecord } from '../contract/audit.js';
import type { Limits } from '../contract/limits.js';
import type { Display, Outcome, Verdict } from '../contract/outcome.js';
import { MAX_CODE_BYTES, type RunRequest } from '../contract/run.js';
import { canonicalJson } from './chain.js';

/** The facts about a run that has ended. */
export interface RunFacts {
  client: string;
  /** The name of the token, never the token itself. */
  token: string | null;
  /** null if there was no code, or it could not be read. */
  code: string | null;
  /** null if the request was refused before it was parsed. */
  inputs: RunInputs | OmittedInputs | null;
  /** null if the run was refused before limits were decided. */
  limits: Limits | null;
  /** null for the plain interpreter, or if nothing ran. */
  lock: EnvironmentLock | null;
  outcome: Outcome;
  /** The id of the run that this one repeats. */
  replayOf?: string | null;
}

/** A stream that was read while the run went on: its text, or that it cannot be kept. */
type Streamed = { text: string } | OmittedInputs['omitted'];

interface Source {
  path: string | null;
  size: number;
  sha256?: string;
}

const aboutSource = ({ path, size, sha256 }: Source) => ({ path, bytes: size, sha256: sha256 ?? null });

/** Returns the inputs of a request other than its code. `streamed`: standard input that was read while the run went on. */
export function inputsOf(
  request: RunRequest,
  streamed?: Streamed,
  sources: readonly Source[] = [],
): RunInputs | OmittedInputs {
  if (streamed && !('text' in streamed)) return { omitted: streamed };
  const { argv, inputData, env, context, call, venvName, capability, value } = request;
  const stdin = streamed?.text ?? request.stdin;
  // The handle of an upload is its owner's secret.
  const files = request.files?.map(({ upload, ...file }) =>
    upload === undefined ? file : { ...file, upload: sha256(upload).slice(0, 12) },
  );
  const filename = request.filename ?? (request.file === undefined ? undefined : basename(request.file));
  // Serializing leaves out what is undefined.
  return {
    filename,
    argv,
    stdin,
    inputData,
    files,
    env,
    context,
    call,
    venvName,
    capability,
    value,
    sources: sources.length > 0 ? sources.map(aboutSource) : undefined,
  } as RunInputs;
}

/** Returns the entry for a run: a denial if the rules refused it. */
export function runRecord(facts: RunFacts): AuditRecord {
  const { client, token, outcome } = facts;
  if (outcome.verdict.kind === 'denied') return denialRecord(facts, outcome.verdict);
  const data: RunRecord = {
    runId: outcome.runId,
    code: storableCode(facts),
    codeSha256: outcome.codeSha256 || null,
    inputs: storableInputs(facts),
    environment: outcome.environment,
    environmentLock: facts.lock?.sha256 ?? null,
    profile: outcome.profile,
    limits: facts.limits,
    verdict: { kind: outcome.verdict.kind, code: verdictCode(outcome.verdict) },
    usage: outcome.usage,
    isolation: outcome.isolation,
    outputSha256: wasRun(outcome) ? outputSha256(outcome) : null,
    ...(outcome.displays && { displays: aboutDisplays(outcome.displays) }),
    cachedFrom: outcome.cached?.runId ?? null,
    replayOf: facts.replayOf ?? null,
    ...(outcome.session && {
      session: { id: sessionId(outcome.session.id), call: outcome.session.calls },
    }),
    ...purposeOf(facts),
    ...(outcome.notes && { notes: outcome.notes.map((note) => note.slice(0, MAX_TEXT_LENGTH)) }),
  };
  return { kind: 'run', client, token, data };
}

/** Identifies a session. Its handle is its owner's secret. */
export const sessionId = (handle: string): string => sha256(handle).slice(0, 12);

/** Displays are large: their hash is kept. Ids are left out, which are often random. */
const aboutDisplays = (displays: readonly Display[]) => ({
  count: displays.length,
  sha256: sha256(JSON.stringify(displays.map(({ data }) => data))),
});

/** Returns the purpose of the run and the disclosure that its caller was shown. */
function purposeOf({ inputs, outcome: { disclosure } }: RunFacts): {
  capability?: string;
  disclosure?: string;
} {
  const capability = disclosure?.capability ?? (inputs as RunInputs | null)?.capability;
  return {
    ...(typeof capability === 'string' && { capability: capability.slice(0, MAX_TEXT_LENGTH) }),
    ...(disclosure !== null && { disclosure: disclosure.text.slice(0, MAX_TEXT_LENGTH) }),
  };
}

type Denied = Extract<Outcome['verdict'], { kind: 'denied' }>;

function denialRecord(facts: RunFacts, verdict: Denied): AuditRecord {
  const { client, token, lock, outcome } = facts;
  const { runId, codeSha256, environment, profile, usage, isolation } = outcome;
  const { violations = [], reason } = verdict;
  const what = violations.length > 0 ? violations.map((one) => one.what).join(', ') : 'a run';
  const data = {
    what: what.slice(0, MAX_TEXT_LENGTH),
    reason: reason.slice(0, MAX_TEXT_LENGTH),
    runId,
    code: storableCode(facts),
    codeSha256: codeSha256 || null,
    environment,
    environmentLock: lock?.sha256 ?? null,
    profile: profile ?? verdict.profile ?? null,
    // A run may be denied while it runs, so its duration and isolation are recorded.
    details: {
      violations,
      usage,
      isolation,
      outputSha256: wasRun(outcome) ? outputSha256(outcome) : null,
      ...purposeOf(facts),
    },
  };
  return { kind: 'denial', client, token, data };
}

/** A run without an isolation tier did not start; a cached outcome has the tier of its first run. */
const wasRun = ({ isolation }: Outcome) => isolation.tier !== null;

/** Refused requests must not fill the disk: only small inputs of them are kept. */
const MOST_REFUSED_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 2000;

/**
 * The limit for code that ran, so that a few runs do not displace all others. Escaped code can be six times as long.
 */
const MOST_CODE_BYTES = 2 * MAX_CODE_BYTES;
const MOST_INPUT_BYTES = 1024 * 1024;

function storableCode({ code, outcome }: RunFacts): string | null {
  const most = wasRun(outcome) ? MAX_CODE_BYTES : MOST_REFUSED_BYTES;
  if (code === null || Buffer.byteLength(code) > most) return null;
  if (code.length * LONGEST_ESCAPE <= MOST_CODE_BYTES) return code;
  return Buffer.byteLength(JSON.stringify(code)) <= MOST_CODE_BYTES ? code : null;
}

/** The longest JSON escape of a character. */
const LONGEST_ESCAPE = 6;

function storableInputs({ inputs, outcome }: RunFacts): RunInputs | OmittedInputs | null {
  if (inputs === null) return null;
  const text = JSON.stringify(inputs);
  const most = wasRun(outcome) ? MOST_INPUT_BYTES : MOST_REFUSED_BYTES;
  if (surelyFits(text, most)) return inputs;
  const encoded = Buffer.from(text);
  const bytes = encoded.length;
  if (bytes <= most) return inputs;
  return wasRun(outcome) ? { omitted: { bytes, sha256: sha256(encoded) } } : null;
}

/** The limit of recorded denials per run, so that a run cannot fill the disk. */
const MOST_OF_ONE_RUN = 100;

/** The denials of runs that have not ended, each recorded once. */
export class RunDenials {
  readonly #byRun = new Map<string, Map<string, Promise<void>>>();

  /** Resolves when this denial, or the one that it repeats, is recorded. */
  add(runId: string, what: string, record: () => Promise<void>): Promise<void> {
    const known = this.#byRun.get(runId) ?? new Map<string, Promise<void>>();
    this.#byRun.set(runId, known);
    const earlier = known.get(what);
    if (earlier !== undefined) return earlier;
    if (known.size >= MOST_OF_ONE_RUN) return Promise.resolve();
    const recorded = record();
    recorded.catch(() => {}); // `settled` reports it, too
    known.set(what, recorded);
    return recorded;
  }

  /** Called when the run has ended. Resolves when its denials are recorded; rejects if one could not be. */
  async settled(runId: string): Promise<void> {
    const known = this.#byRun.get(runId);
    if (known === undefined) return;
    this.#byRun.delete(runId);
    await Promise.all(known.values());
  }
}

/** Returns the SHA-256 of what the code produced: its ending, its output and its value. */
export function outputSha256({ verdict, stdout, stderr, value }: Outcome): string {
  const output = { verdict: endingOf(verdict), stdout: stdout.text, stderr: stderr.text, value };
  return sha256(canonicalJson(output));
}

export const verdictCode = (verdict: Verdict): string | null => ('code' in verdict ? verdict.code : null);

/** Keeps the part of a verdict that the code determines: no limits, which may differ in a replay, and no messages. */
function endingOf(verdict: Verdict) {
  const ending = { kind: verdict.kind, code: verdictCode(verdict) };
  if (verdict.kind === 'exited') return { ...ending, status: verdict.status };
  if (verdict.kind === 'killed') return { ...ending, signal: verdict.signal };
  if (verdict.kind === 'invalid') return { ...ending, issues: verdict.issues };
  if (verdict.kind !== 'python-error') return ending;
  const { type, message, line, column } = verdict.exception;
  return { ...ending, exception: { type, message, line, column } };
}
