import type {
  Tool as AdvertisedTool,
  CallToolResult,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { jsonFaults, PungiError } from '@pungi/core/base';
import { REPLY_DETAILS } from '@pungi/core/config';
import type { Caller, Outcome, RunRequest, StepOptions } from '@pungi/core/contract';
import { type Profiles, tooMany } from '@pungi/core/gate';
import type { Wrapping } from '@pungi/wrap';
import { z } from 'zod';
import { budgetOf } from '../fit.js';
import type { OutputStyle } from '../format-outcome.js';
import { ProgressStream } from '../progress.js';
import { invalidArguments, type ReplyOptions, replyData, replyError, replyOutcome } from '../reply.js';

/** What a handler gets to answer a call. */
export interface Call {
  pungi: Pungi;
  wrapping: Wrapping;
  caller: Caller;
  ctx: ServerContext;
  /** Whether the client knows links to resources, which protocols have since 2025-06-18. */
  hasLinks: boolean;
  /** Whether the call may be answered with a task. */
  knowsTasks: boolean;
}

/** A tool as data: its advertised fields, and the function that answers a call. */
export interface Tool extends AdvertisedTool {
  description: string;
  /** Receives the arguments as the client sent them. */
  answer: (args: unknown, call: Call) => Promise<CallToolResult | InputRequiredResult>;
}

/** Always has a signal and a caller; has a listener only if the client asked for progress. */
export type Steps = StepOptions & { signal: AbortSignal; caller: Caller };

/** The arguments of a tool. `quick` may return those that are valid sooner than the schema. */
interface Parsing<Schema extends z.ZodType> {
  count?: (args: unknown) => string[];
  quick?: (args: unknown) => z.infer<Schema> | undefined;
}

/** Checks the arguments, acts on them, streams the steps as progress, and formats every error. */
export async function answer<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
  { ctx, pungi, caller }: Call,
  act: (args: z.infer<Schema>, steps: Steps) => Promise<CallToolResult>,
  { count = tooMany, quick }: Parsing<Schema> = {},
): Promise<CallToolResult> {
  const budget = budgetOf(pungi.config);
  const many = count(args);
  if (many.length > 0) return invalidArguments(many, budget);
  let given = quick?.(args);
  if (given === undefined) {
    const parsed = schema.safeParse(args ?? {});
    if (!parsed.success) return invalidArguments(jsonFaults(parsed.error, schema), budget);
    given = parsed.data;
  }
  const { signal } = ctx.mcpReq;
  const progress = ProgressStream.for(ctx);
  try {
    return await act(given, {
      signal,
      caller,
      ...(progress && { onStep: (message: string) => progress.push(message) }),
    });
  } catch (thrown) {
    if (signal.aborted) return replyError(new PungiError('CANCELLED', 'The call was cancelled.'), budget);
    const error = PungiError.from(thrown);
    pungi.logger.error('A call failed', { client: caller.client, code: error.code, message: error.message });
    return replyError(error, budget);
  } finally {
    await progress?.end();
  }
}

/** The argument of tools that run code, in addition to the request. */
export const replyDetail = z.enum(REPLY_DETAILS).optional();
type ReplyDetail = z.infer<typeof replyDetail>;

/** `detail`: as the call asks for it. */
interface RunReply extends Partial<Omit<ReplyOptions, 'detail'>> {
  detail?: ReplyDetail;
}

/** Replies to a call that ran code, as its profile and the settings say. */
export function replyRun(
  outcome: Outcome,
  { pungi, caller, hasLinks }: Call,
  { detail = pungi.config.replyDetail, ...options }: RunReply = {},
): CallToolResult {
  return replyOutcome(outcome, {
    style: styleOf(outcome, pungi.profiles),
    budget: budgetOf(pungi.config),
    keep: (whole) => pungi.outputs.keep(caller, whole),
    hasLinks,
    ...options,
    detail,
  });
}

/** Replies with data, within the budget of the settings. */
export const reply = <Data extends object>(
  { pungi }: Call,
  data: Data,
  format: (data: Data) => string,
): CallToolResult => replyData(data, format, budgetOf(pungi.config));

export function runWithProgress(
  request: RunRequest,
  { pungi }: Call,
  { signal, onStep, caller }: Steps,
): Promise<Outcome> {
  const hear = onStep && { onStep, onLine: ({ text }: { text: string }) => onStep(text) };
  return pungi.run(request, { signal, caller, ...hear });
}

export const styleOf = ({ profile }: Outcome, { all }: Profiles): OutputStyle =>
  all.find(({ name }) => name === profile)?.outputStyle ?? 'full';
