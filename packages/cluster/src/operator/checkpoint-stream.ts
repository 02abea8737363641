import { jetstreamManager, type MsgRequest } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { isMissingStream } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { CHECKPOINT_LIMITS, Checkpoint, type Reference, referenceTo } from '../protocol/checkpoints.js';
import { parse } from '../protocol/messages.js';
import { Verifier } from '../protocol/signing.js';
import { storeName } from '../protocol/stores.js';
import type { Subjects } from '../protocol/subjects.js';

/** The checkpoints of one front end, in the order of the stream, and what is wrong with them. */
export interface FrontCheckpoints {
  key: string;
  /** Those with a signature of the front end. */
  signed: Checkpoint[];
  problems: string[];
}

const ANSWER_MS = 5000;

/** Reads the whole stream and checks it: signatures, order, and that the checkpoints refer to each other. */
export async function readCheckpoints(
  connection: NatsConnection,
  subjects: Subjects,
  signal: AbortSignal,
): Promise<Map<string, FrontCheckpoints>> {
  const check = new StreamCheck();
  try {
    for await (const { sequence, subject, message } of messagesOf(connection, subjects, signal))
      check.add(subject, sequence, message);
  } catch (error) {
    if (isMissingStream(error)) return new Map();
    if (error instanceof PungiError || signal.aborted) throw error;
    const why = `The checkpoints of the cluster could not be read: ${(error as Error).message}.`;
    throw new PungiError('CONFIGURATION_ERROR', `${why} Use the credentials of an operator.`, {}, error);
  }
  return check.finish();
}

interface StreamMessage {
  sequence: number;
  subject: string;
  message: Buffer;
}

/** All that are there when it begins, one after the other: an operator may not use consumers (setup/permissions.ts). */
async function* messagesOf(
  connection: NatsConnection,
  { cluster, checkpoints }: Subjects,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const { streams } = await jetstreamManager(connection, { checkAPI: false, timeout: ANSWER_MS });
  const stream = storeName(cluster, 'checkpoints');
  const { first_seq: first, last_seq: last } = (await streams.info(stream)).state;
  for (let seq = first; seq <= last; ) {
    signal.throwIfAborted();
    const found = await streams.getMessage(stream, { seq, next_by_subj: checkpoints } as MsgRequest);
    if (found === null) return;
    yield { sequence: found.seq, subject: found.subject, message: bytesOf(found) };
    seq = found.seq + 1;
  }
}

/** The stream removes the oldest ones of a front end while it is read. */
const FEW = 100;

class StreamCheck {
  readonly #fronts = new Map<string, FrontCheckpoints>();
  /** The hash of every message, by its number. */
  readonly #hashes = new Map<number, string>();
  /** The newest message of each front end. */
  readonly #newest = new Map<string, Reference>();

  add(subject: string, sequence: number, message: Buffer): void {
    const key = subject.slice(subject.lastIndexOf('.') + 1);
    const front = this.#fronts.get(key) ?? { key, signed: [], problems: [] };
    this.#fronts.set(key, front);
    const checkpoint = open(key, subject, message);
    if (checkpoint === undefined)
      front.problems.push(
        `Checkpoint ${sequence} of the cluster was forged: it is not signed by the front end.`,
      );
    else {
      front.problems.push(...this.#problemsOf(front, sequence, checkpoint));
      front.signed.push(checkpoint);
    }
    const reference = referenceTo(sequence, message);
    this.#hashes.set(sequence, reference.hash);
    this.#newest.set(key, reference);
  }

  /** Returns all front ends, by their keys. */
  finish(): Map<string, FrontCheckpoints> {
    for (const { signed, problems } of this.#fronts.values()) {
      const isFull = signed.length >= CHECKPOINT_LIMITS.max_msgs_per_subject - FEW;
      if (!isFull && signed[0] && signed[0].previous !== null && problems.length === 0)
        problems.push(`Checkpoints of the front end before entry ${signed[0].seq} were removed.`);
    }
    return this.#fronts;
  }

  #problemsOf(front: FrontCheckpoints, sequence: number, checkpoint: Checkpoint): string[] {
    const { previous, seen, trail, seq, hash } = checkpoint;
    const problems: string[] = [];
    const newest = this.#newest.get(front.key);
    if (newest !== undefined && !isSame(newest, previous))
      problems.push(
        `Checkpoint ${sequence} of the cluster does not follow ${newest.sequence}: one between was removed, or it was repeated.`,
      );
    const known = seen && this.#hashes.get(seen.sequence);
    if (seen !== null && (seen.sequence >= sequence || (known !== undefined && known !== seen.hash)))
      problems.push(
        `Checkpoint ${seen.sequence} of the cluster is not the one that checkpoint ${sequence} refers to.`,
      );
    const before = front.signed.findLast((one) => one.trail === trail);
    if (before && (seq < before.seq || (seq === before.seq && hash !== before.hash)))
      problems.push(
        `The trail went back from entry ${before.seq} to ${seq}: entries were removed or rewritten.`,
      );
    return problems;
  }
}

const isSame = (one: Reference, other: Reference | null): boolean =>
  one.sequence === other?.sequence && one.hash === other.hash;

/** Undefined if it is not signed with the key that its subject has. */
function open(key: string, subject: string, message: Buffer): Checkpoint | undefined {
  try {
    const content = new Verifier([key]).open(subject, message);
    return content && parse(Checkpoint, content);
  } catch {
    return undefined; // the subject has no key
  }
}
