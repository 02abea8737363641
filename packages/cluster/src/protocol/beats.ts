import { Tier } from '@pungi/core/contract';
import { z } from 'zod';
import { About, token, version, whole, words } from './messages.js';

/** A worker's heartbeat. */
export const Beat = z.object({
  /** Grows. A front end that orders a run without a claim names it, so that the worker knows how old its order is. */
  n: whole,
  v: version,
  worker: token,
  incarnation: token,
  /** `stopped`: the last one. */
  state: z.enum(['ready', 'cordoned', 'draining', 'stopped']),
  version: z.string().max(100),
  arch: z.string().max(50),
  labels: z.record(z.string().max(100), z.string().max(200)),
  cores: whole,
  /** Processes of the machine that run or want to, over the last minute. */
  load: z.number().nonnegative(),
  slots: whole,
  busy: whole,
  /** Whether it takes runs while it is ready and has a free slot: its disk may be full. */
  isOpen: z.boolean(),
  /** Runs of its sessions that wait for a slot. */
  queue: whole,
  sessions: whole,
  /** How many it may hold; any number if it does not say. */
  maxSessions: whole.optional(),
  /** The environments that it has parked workers of. */
  warm: words,
  tier: Tier,
  about: About,
  interpreter: z.object({ path: z.string().max(4096), version: z.string().max(100) }),
  /** The generations of environments that it has built. */
  generations: words.default([]),
});
export type Beat = z.infer<typeof Beat>;

/** Whether a worker may hold another session. */
export const hasRoomForSession = ({
  sessions,
  maxSessions,
}: Pick<Beat, 'sessions' | 'maxSessions'>): boolean => maxSessions === undefined || sessions < maxSessions;

const NUMBER = /^\{"n":(\d{1,15}),/;

/** The number at the beginning of a heartbeat, and the bytes after it: those of two that differ in nothing else are the same. */
export function splitBeat(message: Buffer): { n: number | undefined; rest: Buffer } {
  const [head, n] = NUMBER.exec(message.toString('latin1', 0, 24)) ?? [''];
  return { n: n === undefined ? undefined : Number(n), rest: message.subarray(head.length) };
}

/** The part of a heartbeat that every version has. */
export const AnyBeat = Beat.pick({ v: true, worker: true, incarnation: true, state: true, version: true });

/** A front end's heartbeat, signed. `n` grows. Workers need no more than the first line. */
export const FrontBeat = z.object({
  ...{ v: version, front: token, n: whole, isClosing: z.boolean().optional() },
  version: z.string().max(100).optional(),
  host: z.string().max(255).optional(),
  /** Runs on workers, runs that wait for their turn or a worker, and how many may wait. */
  queue: z.object({ active: whole, waiting: whole, capacity: whole }).optional(),
  /** Workers that it does not hear any more, and for how long. */
  lost: z
    .array(z.object({ worker: token, forMs: z.number().nonnegative() }))
    .max(1000)
    .optional(),
});
export type FrontBeat = z.infer<typeof FrontBeat>;
