import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type FoundRun, MOST_WAIT_MS } from '@pungi/core';
import { PungiError } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { BackgroundRunInfo, RunRequest } from '@pungi/core/contract';
import { z } from 'zod';
import { lostTask, type Task, type TaskSource, taskCreated } from '../tasks.js';
import { advertiseArguments } from './advertise.js';
import { answer, type Call, reply, replyDetail, replyRun, type Tool } from './tool.js';

/** Starts a run, and answers with its handle: as a task for clients that know tasks. */
export async function startInBackground(
  request: RunRequest,
  call: Call,
  detail: Config['replyDetail'] | undefined,
): Promise<CallToolResult> {
  const { pungi, caller } = call;
  const about = { caller, ...(detail && { replyDetail: detail }) };
  const { run } = await pungi.runInBackground(request, about);
  if (call.knowsTasks) return taskCreated(taskOf(await pungi.getRun(run, { caller }), call));
  return reply(
    call,
    { run },
    () => `The run goes on in the background: get_run {"run": "${run}", "wait": 30000}`,
  );
}

const READS = { readOnlyHint: true };

const handle = z.string().max(100).describe('Handle');
const Getting = z.strictObject({
  run: handle,
  wait: z.number().min(0).optional().describe(`ms, ≤ ${MOST_WAIT_MS}`),
  replyDetail,
});

export const getRun = (): Tool => ({
  name: 'get_run',
  title: 'Background run',
  description: 'Its newest lines; its result in the end.',
  annotations: READS,
  inputSchema: advertiseArguments(Getting, ['replyDetail']),
  answer: (args, call) =>
    answer(Getting, args, call, async ({ run, wait = 0, replyDetail: detail }, { caller, signal }) => {
      const found = await call.pungi.getRun(run, { waitMs: wait, caller, signal });
      return replyFound(found, call, detail);
    }),
});

/** Once it has ended, the reply that the call would have got. */
function replyFound(found: FoundRun, call: Call, detail = found.replyDetail): CallToolResult {
  const { outcome, replyDetail: _, ...state } = found;
  return outcome === undefined ? reply(call, state, formatState) : replyRun(outcome, call, { detail });
}

function formatState({ run, state, step, lines = [], lineCount = 0, elsewhere }: FoundRun): string {
  const left = lineCount - lines.length;
  return [
    `${run}: ${state}${elsewhere ? ', in another server' : ''}${step === undefined ? '' : `: ${step}`}`,
    ...(left > 0 ? [`… ${left} lines before`] : []),
    ...lines,
  ].join('\n');
}

const Named = z.strictObject({ run: handle });

export const cancelRun = (): Tool => ({
  name: 'cancel_run',
  title: 'Cancel run',
  description: 'Cancel a background run.',
  annotations: {},
  inputSchema: advertiseArguments(Named),
  answer: (args, call) =>
    answer(Named, args, call, async ({ run }, { caller }) => {
      const { outcome } = await call.pungi.cancelRun(run, caller);
      const verdict = outcome?.verdict.kind ?? 'cancelled';
      return reply(call, { run, verdict }, () =>
        verdict === 'cancelled' ? 'The run was cancelled.' : `The run had ended: ${verdict}.`,
      );
    }),
});

const None = z.strictObject({});

export const listRuns = (): Tool => ({
  name: 'list_runs',
  title: 'List runs',
  description: 'List your background runs.',
  annotations: READS,
  inputSchema: advertiseArguments(None),
  answer: (args, call) =>
    answer(None, args, call, async () => reply(call, { runs: await runsOf(call) }, formatRuns)),
});

/** Over HTTP, a client without a token is known by its name only, and sees the beginning of its handles, as of sessions. */
async function runsOf({ pungi, caller, ctx }: Call): Promise<BackgroundRunInfo[]> {
  const isKnown = ctx.http === undefined || caller.token !== null;
  const runs = await pungi.listRuns(caller);
  return isKnown ? runs : runs.map((one) => ({ ...one, run: `${one.run.slice(0, 10)}…` }));
}

const formatRuns = ({ runs }: { runs: BackgroundRunInfo[] }): string =>
  runs.length === 0
    ? 'There are no background runs.'
    : runs.map(({ run, state, acceptedAt }) => `${run}: ${state}, from ${acceptedAt}`).join('\n');

/** How often a client should ask for a task. */
const POLL_MS = 1000;
const MOST_STATUS_CHARS = 200;

/** A lost run is the only failure of the protocol: code that fails has completed. */
function taskOf(found: FoundRun, call: Call): Task {
  const { run, acceptedAt, outcome, step, lines, endedAt, replyDetail: detail } = found;
  const task = {
    taskId: run,
    createdAt: acceptedAt,
    lastUpdatedAt: endedAt ?? new Date().toISOString(),
    ttlMs: call.pungi.config.backgroundHours * 3_600_000,
    pollIntervalMs: POLL_MS,
  };
  if (outcome === undefined) {
    const said = (step ?? lines?.at(-1))?.slice(0, MOST_STATUS_CHARS);
    return { ...task, status: 'working', ...(said !== undefined && { statusMessage: said }) };
  }
  const { verdict } = outcome;
  if (verdict.kind === 'cancelled') return { ...task, status: 'cancelled', statusMessage: verdict.message };
  if (verdict.kind === 'lost') return { ...task, status: 'failed', error: lostTask(verdict.message) };
  return { ...task, status: 'completed', result: replyRun(outcome, call, { detail }) };
}

/** The background runs of a caller as tasks. They ask nothing, so an update changes nothing. */
export function backgroundTasks(callOf: (ctx: ServerContext) => Call): TaskSource {
  const known = async <T>(ask: Promise<T>): Promise<T | undefined> =>
    ask.catch((error: unknown) => {
      if (PungiError.from(error).code === 'RUN_NOT_FOUND') return undefined;
      throw error;
    });
  const find = (run: string, { pungi, caller }: Call) => known(pungi.getRun(run, { caller }));
  return {
    get: async (taskId, ctx) => {
      const call = callOf(ctx);
      const found = await find(taskId, call);
      return found && taskOf(found, call);
    },
    cancel: async (taskId, ctx) => {
      const { pungi, caller } = callOf(ctx);
      return (await known(pungi.cancelRun(taskId, caller))) && true;
    },
    update: async (taskId, _, ctx) => (await find(taskId, callOf(ctx))) && true,
  };
}
