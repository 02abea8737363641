import type { TrailPage } from '@pungi/core/audit';
import { sha256 } from '@pungi/core/base';
import { z } from 'zod';
import { token, version } from './messages.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const number = z.number().int().nonnegative();

/** A message of the stream, by its number there and its SHA-256. */
const Reference = z.object({ sequence: number, hash });
export type Reference = z.infer<typeof Reference>;

export const referenceTo = (sequence: number, message: Buffer): Reference => ({
  sequence,
  hash: sha256(message),
});

/** Signed: the newest entry of a front end's audit trail. */
export const Checkpoint = z.object({
  v: version,
  /** The name of the front end, for people: the subject has its key. */
  front: token,
  /** Names the trail: the hash of its public key. */
  trail: hash,
  seq: number,
  hash,
  /** Of the front end's clock, for people. */
  at: z.string().max(40),
  /** The front end's own checkpoint before. */
  previous: Reference.nullable(),
  /** The newest checkpoint of all front ends: so each of them vouches for the others. */
  seen: Reference.nullable(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What the stream keeps. A front end that publishes more pushes out only its own. */
export const CHECKPOINT_LIMITS = {
  max_msgs_per_subject: 10_000,
  max_msg_size: 4096,
  max_bytes: 1024 ** 3,
} as const;

/** Of an entry, as base64: what a message can carry besides the rest. */
export const PAGE_BYTES = 256 * 1024;

/** Signed by an operator: a part of the trail is wanted. */
export const TrailRequest = z.object({
  v: version,
  token,
  /** The answer is encrypted for this key (X25519). */
  key: z.base64().max(100),
  from: z.object({ seq: number, offset: number }),
});
export type TrailRequest = z.infer<typeof TrailRequest>;

const Piece = z.object({
  seq: number,
  prevHash: hash,
  hash,
  body: z.base64().transform((text) => Buffer.from(text, 'base64')),
  isLast: z.boolean(),
});

const Cut = z.object({
  seq: number,
  role: z.enum(['regular', 'cut']),
  hash,
  time: z.string().max(40),
  previous: number,
  signature: z.string().max(200),
});

export const TrailAnswer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('page'),
    publicKey: z.string().max(1000),
    head: z.object({ seq: number, hash }),
    cut: Cut.nullable(),
    pieces: z.array(Piece).max(1000),
  }),
  z.object({ kind: z.literal('failed'), isDamaged: z.boolean(), message: z.string().max(10_000) }),
]);
export type TrailAnswer = z.infer<typeof TrailAnswer>;

/** As JSON. */
export const pageMessage = (page: TrailPage): object => ({
  kind: 'page',
  ...page,
  pieces: page.pieces.map((piece) => ({ ...piece, body: piece.body.toString('base64') })),
});
