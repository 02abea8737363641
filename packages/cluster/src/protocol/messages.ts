import { isWithin } from '@pungi/core/base';
import { CodeSummary, FunctionCall, Limits, Tier } from '@pungi/core/contract';
import type { EndFacts, Job, WorkerAbout } from '@pungi/core/engine';
import { z } from 'zod';
import { packFrame } from './frames.js';
import { isToken } from './subjects.js';

/** Everything that arrives from the network is parsed here. Unknown fields are ignored: newer versions may send more. */
export const token = z.string().refine(isToken, 'is not a token');
const sentence = z.string().max(10_000);
export const words = z.array(z.string().max(200)).max(1000);
export const whole = z.number().int().nonnegative();
export const version = z.number().int().min(1).max(1_000_000);

export const About = z.object({
  features: words,
  python: z.string().max(200),
  magic: z.string().max(200),
  cgroup: z.union([
    z.object({ version: z.enum(['v1', 'v2']), totalMb: z.number() }),
    z.object({ version: z.null(), reason: sentence }),
  ]),
}) satisfies z.ZodType<WorkerAbout>;

const OfferedPoolSpec = z.object({
  preload: words,
  allowedHosts: words,
  isRaised: z.boolean().optional(),
});

/** The environment of a run, by its name and its state. */
const EnvironmentNeed = z.object({ name: z.string().max(100), generation: token });

/** The needs of a run, by which a worker chooses a process for it. */
const needed = {
  /** Left out if any worker of the environment will do. */
  poolSpec: OfferedPoolSpec.optional(),
  /** Left out for the plain interpreter. */
  environment: EnvironmentNeed.optional(),
  /** Set if a session keeps the process. */
  isForSession: z.boolean().optional(),
};

const Needed = z.object(needed);
export type Needed = z.infer<typeof Needed>;

/** Signed. It reserves a slot and runs nothing. */
export const Offer = z.object({
  v: version,
  front: token,
  /** Fresh for each offer. The answer goes to the subject that it is part of. */
  token,
  ...needed,
});
export type Offer = z.infer<typeof Offer>;

export const OfferAnswer = z.discriminatedUnion('kind', [
  /** It prepares a worker; a claim or a refusal follows. */
  z.object({
    kind: z.literal('taken'),
    worker: token,
    incarnation: token,
    /** The environment is not there yet. */
    isBuilding: z.boolean().optional(),
  }),
  z.object({
    kind: z.literal('claim'),
    worker: token,
    incarnation: token,
    claim: token,
    tier: Tier,
    about: About,
  }),
  z.object({
    kind: z.literal('refused'),
    worker: token,
    incarnation: token,
    /** `gone`: the environment has changed since. */
    reason: z.enum(['full', 'version', 'failed', 'gone']),
    /** Of an error, if it failed. */
    code: z.string().max(100).optional(),
    message: sentence,
  }),
]);
export type OfferAnswer = z.infer<typeof OfferAnswer>;

const order = { front: token, claim: token };
/** Orders of one claim are numbered, each is followed once. */
const numbered = { ...order, n: whole, token };

const JobFields = z.object({
  code: z.string(),
  filename: z.string().max(255),
  package: z.string().max(500).optional(),
  argv: z.array(z.string()).max(1024),
  stdin: z.string(),
  files: z.array(z.object({ path: z.string().max(1024), base64: z.string() })).max(1000),
  env: z.record(z.string(), z.string()),
  limits: Limits,
  variables: z.record(z.string(), z.unknown()),
  call: FunctionCall.optional(),
  hasValue: z.boolean().optional(),
  imports: z.array(z.string()).optional(),
  rules: z.record(z.string(), z.unknown()).optional(),
  summarize: z.boolean().optional(),
  bytecode: z.string().optional(),
  artifactBytes: whole.optional(),
  session: z.boolean().optional(),
  inspect: z.boolean().optional(),
  toolName: z.string().max(200).optional(),
  interactive: z.boolean().optional(),
  task: z.enum(['compile', 'imports', 'check', 'discover', 'complete', 'read']).optional(),
  isTyped: z.boolean().optional(),
});

export const JobMessage = JobFields as unknown as z.ZodType<Job>;

/** An input in the object store, and what decrypts it. */
export const StoredInput = z.object({
  name: token,
  bytes: whole,
  key: z.base64().length(44),
  iv: z.base64().length(16),
  tag: z.base64().length(24),
});
export type StoredInput = z.infer<typeof StoredInput>;

const GoInputs = z.object({
  job: JobMessage.optional(),
  /** Instead of `job`, if that is large. */
  storedJob: StoredInput.optional(),
  /** Files; without a path, standard input. */
  sources: z
    .array(z.object({ path: z.string().max(1024).nullable(), input: StoredInput }))
    .max(2000)
    .optional(),
});
export type GoInputs = z.infer<typeof GoInputs>;

/** Frames of a run before `next` have arrived. */
const Received = z.object({
  claim: token,
  n: whole,
  next: whole,
  /** For a front end that waits: the worker answers if the claim has ended. */
  token: token.optional(),
});
export type Received = z.infer<typeof Received>;

/** More are in another message. */
export const MOST_RECEIVED = 200;
const received = z.array(Received).max(MOST_RECEIVED);

/** The needs of a run that is ordered without an offer. `beat`: the last heartbeat of the worker that its front end has heard. */
const Placing = z.object({ beat: whole, ...needed });
export type Placing = z.infer<typeof Placing>;

/** Signed: runs a job in a claimed worker, or in a new claim of this number if it has `placing`. `run`: its id. */
export const Go = z.object({
  ...numbered,
  run: token,
  ...GoInputs.shape,
  placing: Placing.optional(),
  received: received.optional(),
});
export type Go = z.infer<typeof Go>;

/** Claims that one order names. */
export const MOST_HELD = 1000;
/** Signed: the front end has these claims. A run of theirs follows later. */
export const Hold = z.object({ front: token, claims: z.array(token).max(MOST_HELD) });

/** Signed: ends the run with this number. */
export const Cancel = z.object({ ...order, n: whole });
/** Signed: frames have arrived. */
export const Ack = z.object({ front: token, received });
/** Signed: ends what the claim holds. */
export const Release = z.object(order);
/** Signed: an operation on the worker of a session. */
export const Copy = z.object({
  ...numbered,
  action: z.enum(['save', 'load', 'fork', 'drop']),
  checkpoint: z.string().max(100).optional(),
  limits: Limits.optional(),
});
export type Copy = z.infer<typeof Copy>;

/** Signed: an order of an operator. `token`: fresh, so that it is followed once. */
export const Operate = z.object({ v: version, token });

/** What the worker of a session holds after an order. */
const held = { isKept: z.boolean(), checkpoints: words };

export const CopyAnswer = z.object({
  kind: z.literal('copied'),
  ...held,
  /** A checkpoint, or the claim of a fork. */
  copy: z.string().max(100).optional(),
  obstacles: z.array(sentence).max(100).optional(),
});
export type CopyAnswer = z.infer<typeof CopyAnswer>;

const Facts = z.object({
  killedFor: z
    .enum(['timeout', 'cpu', 'memory', 'total-memory', 'processes', 'disk', 'output', 'cancelled', 'scope'])
    .nullable(),
  held: z.string().max(1000).nullish(),
  diskFull: z.boolean().optional(),
  status: z.number().int().nullable(),
  signal: z.number().int().nullable(),
  wallMs: z.number().nonnegative(),
  cpuMs: z.number().nonnegative(),
  peakBytes: z.number().nonnegative(),
  isKept: z.boolean().optional(),
  copies: words.optional(),
  obstacles: z.array(sentence).max(100).optional(),
}) as unknown as z.ZodType<EndFacts>;

/** How a run ended. `abandoned`: why the worker ended it by itself. */
export const End = z.object({
  facts: Facts.nullable(),
  report: z.unknown().optional(),
  summary: CodeSummary.nullable(),
  abandoned: z.string().max(200).optional(),
  ...held,
});
export type End = z.infer<typeof End>;

/**
 * A run that was not started. `invalid`: no worker would start it. `used`: its claim has ended, and may have run it. `unplaced`: it
 * was ordered without a claim, and there is no room, or the order is too old.
 */
export const Refusal = z.object({
  reason: z.enum(['no-claim', 'invalid', 'used', 'unplaced']),
  message: sentence,
});
export type Refusal = z.infer<typeof Refusal>;

/** The only frame of a run that was not started, or that after those which were received before. */
export const packRefusal = (refusal: Refusal, seq = 0): Buffer =>
  packFrame({ kind: 'refused', seq, goesOn: false, payload: pack(refusal) });

/** More than any regular report has (core/src/runtime/reports.ts). */
const MOST = { depth: 520, parts: 500_000 };

/** Returns undefined for anything that is not such a message. */
export function parse<T>(schema: z.ZodType<T>, bytes: Buffer): T | undefined {
  if (!isWithin(bytes, MOST)) return undefined;
  try {
    return schema.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}

export const pack = (message: object): Buffer => Buffer.from(JSON.stringify(message));
