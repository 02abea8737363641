import { setImmediate as immediately } from 'node:timers/promises';

/** A semaphore: at most `free` holders at a time; the others wait in order of arrival. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place at once; resolves when its turn has come, to what ends the turn. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
  }
}

const LONG_MS = 4;
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Ends this turn of the event loop if it has lasted long, so that large input is processed over several turns and
 * other clients are answered in between.
 */
export async function letOthersGo(since: number): Promise<void> {
  if (performance.now() - since > LONG_MS) await ownTurn();
}

/** More than this takes noticeable time to serialize or to hash. */
const LARGE = 256 * 1024;

/** Whether serializing the values deserves an own turn. Stops counting when it is clear; iterative, so depth is safe. */
export function isLarge(values: readonly unknown[]): boolean {
  const left = [...values];
  let size = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const members = Array.isArray(value) ? value : Object.values(value);
    size += members.length;
    if (size > LARGE) return true;
    for (const member of members) left.push(member);
  }
  return size > LARGE;
}

/**
 * Resolves in an event-loop turn that no other caller gets, so that several large requests are handled one by one.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => immediately());
  return lastTurn;
}

/** Resolves when `work` has settled, or after `ms`. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
