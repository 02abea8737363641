import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { KV } from '@nats-io/kv';
import { PungiError } from '@pungi/core/base';
import { BEING_CHANGED, foldName, inUse, SHORT_WAIT_MS } from '@pungi/core/environments';
import { isConflict } from '../bucket.js';
import { LOOK_MS, RENEW_MS, TAKEOVER_LOOKS } from '../protocol/timing.js';

export interface LeaseOptions {
  /** Whether to wait for others, or to refuse with ENVIRONMENT_IN_USE. */
  wait: boolean;
  signal?: AbortSignal | undefined;
  /** Called if somebody else has it. */
  onWait?: () => void;
}

export interface Leased {
  key: string;
  /** For messages. */
  name: string;
}

/** For changes of one environment. Names that differ only in case share it. */
export const changing = (name: string): Leased => ({ key: `lease.${foldName(name)}`, name });
/** For adding an environment: their number is bounded. */
export const adding = (name: string): Leased => ({ key: 'adding', name });

/**
 * Lets one front end at a time change an environment. The holder renews the lease. A lease whose revision does not change while
 * another one looks at it is taken over: no clocks are compared. Whoever loses it stops; what it would still write is refused,
 * because it expects an older revision.
 */
export async function withLease<T>(
  bucket: KV,
  { key, name }: Leased,
  options: LeaseOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const holder = randomBytes(12).toString('base64url');
  let revision = await acquire(bucket, key, holder, name, options);
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  const renew = async () => {
    try {
      revision = await bucket.update(key, holder, revision);
    } catch (error) {
      // Whatever else fails may work the next time.
      if (isConflict(error)) lost.abort(inUse(name, BEING_CHANGED));
    }
  };
  const timer = setInterval(() => {
    // While NATS does not answer, one renewal waits, and no others behind it.
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  }, RENEW_MS);
  try {
    return await work(options.signal ? AbortSignal.any([options.signal, lost.signal]) : lost.signal);
  } finally {
    clearInterval(timer);
    await renewing;
    if (!lost.signal.aborted) await bucket.delete(key, { previousSeq: revision }).catch(() => {});
  }
}

/** Returns the revision of the lease. */
async function acquire(
  bucket: KV,
  key: string,
  holder: string,
  name: string,
  { wait, signal, onWait }: LeaseOptions,
): Promise<number> {
  let [seen, looks] = [0, 0];
  const mostLooks = wait ? Number.POSITIVE_INFINITY : SHORT_WAIT_MS / LOOK_MS;
  for (let look = 0; ; look += 1) {
    signal?.throwIfAborted();
    const taken = await attempt(() => bucket.create(key, holder));
    if (taken !== undefined) return taken;
    const found = await bucket.get(key);
    if (found?.operation !== 'PUT') continue;
    looks = found.revision === seen ? looks + 1 : 0;
    seen = found.revision;
    if (looks >= TAKEOVER_LOOKS) {
      const takenOver = await attempt(() => bucket.update(key, holder, seen));
      if (takenOver !== undefined) return takenOver;
    }
    if (look >= mostLooks) throw inUse(name, BEING_CHANGED);
    if (look === 0) onWait?.();
    await pause(LOOK_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** Returns undefined if somebody else was first. */
async function attempt(write: () => Promise<number>): Promise<number | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isConflict(error)) return undefined;
    if (error instanceof PungiError) throw error;
    throw new PungiError(
      'INTERNAL_ERROR',
      `The environments of the cluster cannot be changed: ${(error as Error).message}.`,
      {},
      error,
    );
  }
}
