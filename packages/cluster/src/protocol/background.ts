import { sha256 } from '@pungi/core/base';
import type { Caller } from '@pungi/core/contract';
import { z } from 'zod';
import { StoredInput, token, version, whole } from './messages.js';

const replyDetail = z.enum(['short', 'full']).optional();
const handle = z.string().regex(/^run-[\w-]{22}$/);
const time = z.string().max(40);
const text = z.string().max(1000);

const RecordedCaller = z.object({
  client: text,
  token: text.nullable(),
  scopes: z.array(text).max(1000).readonly(),
  connection: text,
}) satisfies z.ZodType<Caller>;

/** A background run in the queue: signed by the front end that has accepted it. The request itself is checked by the gate. */
export const QueuedRun = z.object({
  v: version,
  run: handle,
  acceptedAt: time,
  caller: RecordedCaller,
  /** As JSON, however deep. */
  request: z.string().optional(),
  /** Instead of `request`, if that is large. */
  storedRequest: StoredInput.optional(),
  /** Run it again, although it may have started. */
  retry: z.boolean(),
});
export type QueuedRun = z.infer<typeof QueuedRun>;

/** Where an outcome is. */
const KeptOutcome = z.union([z.object({ key: z.string().max(300) }), z.object({ object: StoredInput })]);
export type KeptOutcome = z.infer<typeof KeptOutcome>;

/**
 * The state of a background run, under a key that its owner is part of. Each change expects the revision before it, so that of two
 * front ends one prevails.
 */
export const RunState = z.object({
  run: handle,
  /** For people: nothing is ordered by it. */
  acceptedAt: time,
  replyDetail,
  /**
   * `taken`: a front end prepares it, and has ordered nothing. `starting`: the order to a worker may have gone out. `started`: the worker
   * has confirmed it.
   */
  phase: z.enum(['queued', 'taken', 'starting', 'started', 'ended']),
  /** The front end that has accepted it, or runs it. */
  front: token,
  /** Of this time that it was taken; whoever has another one has lost it. */
  attempt: token.optional(),
  attempts: whole,
  /** Of the last order, as the worker's trail has it. */
  runId: z.uuid().optional(),
  /** Its owner has cancelled it. */
  isCancelled: z.boolean().optional(),
  /** The revision with which it was accepted: the order of runs. */
  order: whole.optional(),
  endedAt: time.optional(),
  outcome: KeptOutcome.optional(),
  /** The bytes of its files in the object store. */
  fileBytes: whole.optional(),
});
export type RunState = z.infer<typeof RunState>;

/** The files of a run are one object: the length of this list, the list, and their contents. */
export const FileList = z
  .array(z.object({ path: z.string().max(4096), size: whole, sha256: z.string().max(64), mimeType: text }))
  .max(100_000);
export const KeptFiles = z.object({ object: StoredInput });

const ownerToken = (owner: string): string => sha256(owner).slice(0, 32);

/** Other owners have other keys: who is not the owner does not find it. */
export const keyOfRun = (owner: string, run: string): string => `run.${ownerToken(owner)}.${run}`;
export const runsOf = (owner: string): string => `run.${ownerToken(owner)}.`;
export const keyOfFiles = (owner: string, runId: string): string => `files.${ownerToken(owner)}.${runId}`;
/** The same, by the key of the run. */
export const filesOfRun = (key: string, runId = ''): string => `files.${key.split('.')[1]}.${runId}`;
