import type { Claim } from './claim.js';
import { Recent } from './recent.js';

/** Claims that have run something and ended: no answer may say that they did not. */
const MOST_REMEMBERED = 50_000;

/** The claims of a worker, by id. */
export class Claims {
  readonly #open = new Map<string, Claim>();
  readonly #used = new Recent(MOST_REMEMBERED);
  #onQuiet: (() => void) | undefined;

  /** `maxSessions`: the guard of a fork server takes more processes than it was told for those of packages. */
  constructor(private readonly maxSessions: number) {}

  add(claim: Claim): void {
    this.#open.set(claim.id, claim);
  }

  remove(claim: Claim): void {
    if (this.#open.delete(claim.id) && claim.wasUsed) this.#used.add(claim.id);
    this.#noteQuiet();
  }

  /** Returns the claim, if it is of this front end. */
  find(id: string, front: string): Claim | undefined {
    const claim = this.#open.get(id);
    return claim?.front === front ? claim : undefined;
  }

  wasUsed(id: string): boolean {
    return this.#used.has(id);
  }

  /** Sessions, and claims that may become one. */
  get sessions(): number {
    return [...this.#open.values()].filter(({ isForSession }) => isForSession).length;
  }

  get hasRoomForSession(): boolean {
    return this.sessions < this.maxSessions;
  }

  /** Whether a front end has any. */
  has(front: string): boolean {
    return [...this.#open.values()].some((claim) => claim.front === front);
  }

  /** How many use an environment. Those that only wait for an acknowledgement do not. */
  using(environment: string): number {
    return [...this.#open.values()].filter((claim) => claim.environment === environment && claim.isInUse)
      .length;
  }

  /** Ends all of a front end, or all of them. */
  abandon(why: string, front?: string): void {
    for (const claim of [...this.#open.values()])
      if (front === undefined || claim.front === front) claim.abandon(why);
  }

  /** Resolves when nothing runs. Sessions end as soon as nothing runs in them. */
  async quiet(): Promise<void> {
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.endIdle();
    this.#noteQuiet();
    await quiet;
  }

  /** Ends a session that its front end has not named for a time. Returns false if something of it is under way. */
  endUnnamed(id: string): boolean {
    const claim = this.#open.get(id);
    if (claim?.isBusy) return false;
    claim?.release();
    return true;
  }

  endIdle(): void {
    for (const claim of [...this.#open.values()]) if (!claim.isBusy) claim.release();
  }

  #noteQuiet(): void {
    if (this.#open.size === 0) this.#onQuiet?.();
  }
}
