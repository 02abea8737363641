import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { PageCheck, type TrailPosition } from '@pungi/core/audit';
import { bytesOf } from '../connection.js';
import { TrailAnswer, type TrailRequest } from '../protocol/checkpoints.js';
import { pack, parse } from '../protocol/messages.js';
import type { Signer } from '../protocol/signing.js';
import type { Subjects } from '../protocol/subjects.js';
import { PROTOCOL } from '../protocol/version.js';
import { SealedReader } from '../sealing.js';

export interface AskingParts {
  connection: NatsConnection;
  subjects: Subjects;
  signer: Signer;
  signal: AbortSignal;
}

/** Why a front end gave no trail. `isDamaged`: it has one that cannot be read. */
export interface Unasked {
  isDamaged: boolean;
  reason: string;
}

const ANSWER_MS = 5000;
const TRIES = 3;
const NO_RESPONDERS = 503;

/**
 * Fetches the whole trail of a front end and computes its chain again. `key`: of the front end; `wanted`: the entries whose
 * hashes are asked for.
 */
export async function askTrail(
  parts: AskingParts,
  key: string,
  wanted: ReadonlySet<number>,
): Promise<PageCheck | Unasked> {
  const check = new PageCheck(wanted);
  for (let next = check.next; next !== undefined; next = check.next) {
    const answer = await askPage(parts, key, next);
    if (answer === 'nobody') return { isDamaged: false, reason: 'It does not run.' };
    if (answer === 'silent') return { isDamaged: false, reason: 'It does not answer.' };
    if (answer.kind === 'failed') return { isDamaged: answer.isDamaged, reason: answer.message };
    check.take(answer);
  }
  return check;
}

/** A request that was lost is sent again. */
async function askPage(
  parts: AskingParts,
  key: string,
  from: TrailPosition,
): Promise<TrailAnswer | 'nobody' | 'silent'> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    parts.signal.throwIfAborted();
    const answer = await askOnce(parts, key, from);
    if (answer !== undefined) return answer;
  }
  return 'silent';
}

function askOnce(
  { connection, subjects, signer, signal }: AskingParts,
  key: string,
  from: TrailPosition,
): Promise<TrailAnswer | 'nobody' | undefined> {
  const reader = new SealedReader();
  const token = randomBytes(16).toString('base64url');
  const [subject, reply] = [subjects.trail(key), subjects.entries(token)];
  const request: TrailRequest = { v: PROTOCOL, token, key: reader.key, from };
  return new Promise((resolve) => {
    const end = (answer?: TrailAnswer | 'nobody') => {
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
      subscription.unsubscribe();
      resolve(answer);
    };
    const onAbort = () => end();
    const late = setTimeout(onAbort, ANSWER_MS);
    signal.addEventListener('abort', onAbort);
    const subscription = connection.subscribe(reply, {
      callback: (error, message) => {
        if (error !== null) return end();
        if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) return end('nobody');
        const content = reader.open(bytesOf(message));
        const answer = content && parse(TrailAnswer, content);
        if (answer !== undefined) end(answer);
      },
    });
    connection.publish(subject, signer.sign(subject, pack(request)), { reply });
  });
}
