/** What waits, of several members; the next one is always of the member that was served longest ago. */
class Rotation<T> {
  readonly #waiting = new Map<object, T[]>();
  /** The order in which the members were last served; one that never was counts as served when it came. */
  readonly #served = new WeakMap<object, number>();
  #last = 0;

  add(member: object, one: T): void {
    if (!this.#served.has(member)) this.#serve(member);
    const waiting = this.#waiting.get(member);
    if (waiting) waiting.push(one);
    else this.#waiting.set(member, [one]);
  }

  next(): T | undefined {
    const member = this.#longestAgo();
    if (member === undefined) return undefined;
    const waiting = this.#waiting.get(member)!;
    const one = waiting.shift();
    if (waiting.length === 0) this.#waiting.delete(member);
    this.#serve(member);
    return one;
  }

  #serve(member: object): void {
    this.#last += 1;
    this.#served.set(member, this.#last);
  }

  #longestAgo(): object | undefined {
    let [found, least]: [object | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const member of this.#waiting.keys()) {
      const served = this.#served.get(member)!;
      if (served < least) [found, least] = [member, served];
    }
    return found;
  }
}

/** Short steps share a turn of the event loop: other work may make every turn long. */
const MOST_STEPS = 8;
/** After this time, no further step begins in a turn. */
const LONG_MS = 4;

/**
 * Gives the event loop to one client after the other, for one step of one request at a time, so that a client that sends much is not
 * answered at the expense of those that send little.
 */
export class ClientTurns {
  readonly #now: () => number;
  readonly #sessions = new Rotation<() => void>();
  readonly #shared = {
    modern: new Rotation<() => void>(),
    new: new Rotation<() => void>(),
    large: new Rotation<() => void>(),
  };
  /** Whether this turn of the event loop belongs to somebody, and since when. */
  #isTaken = false;
  #began = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when the session may take a step. */
  takeAs(session: object): Promise<void> {
    return this.#take((resolve) => this.#sessions.add(session, resolve));
  }

  /**
   * The same for one of many that share the turns of one session, however many they are: connections of the protocol without sessions,
   * those about to begin one, or whoever has a large request parsed, which is a long step.
   */
  takeAmong(kind: 'modern' | 'new' | 'large', member: object): Promise<void> {
    const shared = this.#shared[kind];
    return this.#take((resolve) => {
      shared.add(member, resolve);
      this.#sessions.add(shared, () => shared.next()!());
    });
  }

  #take(wait: (resolve: () => void) => void): Promise<void> {
    const turn = new Promise<void>(wait);
    if (!this.#isTaken) this.#begin();
    return turn;
  }

  readonly #begin = () => {
    const step = this.#sessions.next();
    this.#isTaken = step !== undefined;
    if (step === undefined) return;
    this.#began = this.#now();
    // Between two of these, Node completes the step: all that it does before it waits for something outside.
    setImmediate(this.#begin);
    for (let more = 1; more < MOST_STEPS; more += 1) setImmediate(this.#goOn);
    step();
  };

  readonly #goOn = () => {
    if (this.#now() - this.#began < LONG_MS) this.#sessions.next()?.();
  };
}
