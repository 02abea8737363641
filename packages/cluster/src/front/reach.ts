import type { NatsConnection } from '@nats-io/transport-node';
import { within } from '@pungi/core/base';
import { OUTAGE_MS } from '../protocol/timing.js';

/** A server that is there answers within this time. */
const ANSWER_MS = 5000;

/** Knows whether a front end reaches NATS. While it does not, nothing arrives and no worker is lost, so every wait has to end by itself. */
export class Reach {
  #isDown = false;
  #since = performance.now();
  #giveUp: NodeJS.Timeout | undefined;

  /** `onOutage` is called each time that NATS was not reached for so long. */
  constructor(
    private readonly connection: NatsConnection,
    private readonly onOutage: () => void,
  ) {
    void this.#follow();
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** For how long NATS has not been reached. */
  get downMs(): number {
    return this.#isDown ? performance.now() - this.#since : 0;
  }

  /** For how long it has been reached without an interruption. */
  get upMs(): number {
    return this.#isDown ? 0 : performance.now() - this.#since;
  }

  /** Returns whether NATS answers. Everything that it had before has arrived then. */
  async answers(): Promise<boolean> {
    let hasAnswered = false;
    const answered = this.connection.flush().then(
      () => {
        hasAnswered = true;
      },
      () => {},
    );
    await within(answered, ANSWER_MS);
    return hasAnswered;
  }

  close(): void {
    clearInterval(this.#giveUp);
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect') this.#note(true);
      else if (type === 'reconnect') this.#note(false);
    }
    this.close();
  }

  /** Each attempt to connect again that fails is a disconnect of its own. */
  #note(isDown: boolean): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    this.#since = performance.now();
    clearInterval(this.#giveUp);
    this.#giveUp = isDown ? setInterval(this.onOutage, OUTAGE_MS) : undefined;
  }
}
