import { sha256 } from '@pungi/core/base';
import { type EnvironmentLock, PackageInfo, PackageReport } from '@pungi/core/contract';
import { Metadata } from '@pungi/core/environments';
import { z } from 'zod';
import { token, version } from './messages.js';
import { storeName } from './stores.js';

/** The bucket of a cluster's environments. Front ends write it; workers read `env.*`. */
export const bucketOf = (cluster: string): string => storeName(cluster, 'environments');

export const keyOfEnvironment = (name: string): string => `env.${name}`;

/** An environment as the cluster keeps it: everything that a worker needs to build it. */
export const Entry = z.object({
  v: version,
  /** Its generation is that of the lock; its interpreter's path is empty. */
  metadata: Metadata,
  /** The text of its lock file. */
  lock: z.string(),
});
export type Entry = z.infer<typeof Entry>;

/** The generation of a lock: the same everywhere, and proof that the text is the one that was meant. */
export const generationOf = (lock: string): string => `g${sha256(lock).slice(0, 40)}`;

export const lockIn = ({ lock }: Entry): EnvironmentLock => ({ sha256: sha256(lock), text: lock });

/** Names one state of an environment. */
export const EntryRef = z.object({ name: z.string().max(100), generation: token });
export type EntryRef = z.infer<typeof EntryRef>;

const name = z.string().max(100);
const texts = z.array(z.string().max(10_000)).max(1000);

/** What a worker is asked to make. Each but the last two concerns one named environment. */
export const Operation = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    venvName: name,
    description: z.string().optional(),
    pythonVersion: z.string().max(100).optional(),
    packages: texts,
  }),
  z.object({ kind: z.literal('install'), venvName: name, packages: texts, upgrade: z.boolean() }),
  z.object({ kind: z.literal('uninstall'), venvName: name, packages: texts }),
  z.object({
    kind: z.literal('import'),
    venvName: name,
    lock: z.string(),
    description: z.string().optional(),
  }),
  z.object({
    kind: z.literal('inline'),
    dependencies: texts,
    requiresPython: z.string().max(200).nullable(),
  }),
  z.object({ kind: z.literal('locked'), lock: z.string() }),
]);
export type Operation = z.infer<typeof Operation>;

/**
 * Signed, and taken by any worker. It changes nothing by itself: the front end stores what the worker has made, or does not. So
 * it can be repeated.
 */
export const ChangeRequest = z.object({
  v: version,
  front: token,
  token,
  operation: Operation,
  /** The state that is changed; left out if there is none yet. */
  from: EntryRef.optional(),
});
export type ChangeRequest = z.infer<typeof ChangeRequest>;

/** What happened, for the audit trail of the front end. */
const Event = z.union([
  z.object({
    action: z.enum(['install', 'uninstall']),
    requested: texts,
    added: z.array(PackageInfo),
    removed: z.array(PackageInfo),
    error: z.string().max(100).nullable(),
  }),
  z.object({
    action: z.enum(['create', 'delete', 'clone', 'import', 'describe', 'clean', 'provide']),
    details: z.record(
      z.string(),
      z.union([z.string(), z.number(), z.array(z.string()), z.array(PackageInfo)]),
    ),
  }),
]);
export type ChangeEvent = z.infer<typeof Event>;

const events = z.array(Event).max(20);

export const ChangeAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('taken'), worker: token, incarnation: token }),
  z.object({
    kind: z.literal('step'),
    message: z.string().max(10_000),
    share: z.number().min(0).max(1).optional(),
  }),
  z.object({
    kind: z.literal('done'),
    metadata: Metadata,
    lock: z.string(),
    report: PackageReport.nullable(),
    events,
  }),
  z.object({
    kind: z.literal('failed'),
    code: z.string().max(100),
    message: z.string().max(100_000),
    details: z.record(z.string(), z.unknown()),
    /** The state that it begins with is not in force any more. */
    isGone: z.boolean(),
    events,
  }),
]);
export type ChangeAnswer = z.infer<typeof ChangeAnswer>;

/** Signed: the worker repeats its last answer. */
export const Poll = z.object({ front: token, token });
/** Signed: nobody waits for the answer any more. */
export const Dismiss = Poll;
/** Signed: how many claims of the worker use an environment. */
export const Usage = z.object({ front: token, token, environment: name });
export const UsageAnswer = z.object({ kind: z.literal('usage'), claims: z.number().int().nonnegative() });
