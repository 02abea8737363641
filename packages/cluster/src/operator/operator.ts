import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { countText, PungiError, silentLogger, similarName } from '@pungi/core/base';
import { type ClusterAddress, openConnection } from '../connection.js';
import { natsCredentials, signerOf } from '../credentials.js';
import type { Beat } from '../protocol/beats.js';
import { pack } from '../protocol/messages.js';
import { type OperatorOrder, type Subjects, subjectsOf, type WorkerKey } from '../protocol/subjects.js';
import { AGAIN_MS } from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';
import { ClusterView } from './cluster-view.js';

export interface OrderOptions {
  signal: AbortSignal;
  onStep: (step: string) => void;
}

/** The state that an order leads to. */
const LEADS_TO: Record<OperatorOrder, Beat['state']> = {
  cordon: 'cordoned',
  uncordon: 'ready',
  drain: 'draining',
};
/** A worker follows an order within this time. */
const FOLLOW_MS = 5000;

/** A person who looks after a cluster. */
export class Operator {
  readonly view: ClusterView;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly subjects: Subjects,
    private readonly address: ClusterAddress,
    private readonly creds: string,
  ) {
    this.view = new ClusterView(connection, subjects, address.name);
  }

  /** Resolves when everybody had the time to be heard. Throws CONFIGURATION_ERROR if NATS cannot be reached. */
  static async connect(address: ClusterAddress, creds: string): Promise<Operator> {
    const connection = await openConnection(address, 'pungi operator', natsCredentials(creds), silentLogger);
    const operator = new Operator(connection, subjectsOf(address.name), address, creds);
    await operator.view.settled();
    return operator;
  }

  /**
   * Gives a worker an order and resolves when it has followed; after `drain`, when the worker has ended. Throws INVALID_INPUT if
   * there is no such worker, DENIED if it does not follow.
   */
  async order(name: string, order: OperatorOrder, options: OrderOptions): Promise<void> {
    const found = this.view.named(name).filter((worker) => !this.view.isSilent(worker));
    if (found.length === 0) throw this.#unknown(name);
    await Promise.all(found.map((worker) => this.#follow(worker, order, options)));
  }

  async close(): Promise<void> {
    await this.connection.drain();
  }

  async #follow(worker: WorkerKey, order: OperatorOrder, { signal, onStep }: OrderOptions): Promise<void> {
    const state = () => this.#stateOf(worker);
    if (order === 'uncordon' && state() === 'draining')
      throw new PungiError('INVALID_INPUT', `The worker ${worker.worker} is being drained, and will end.`);
    const hasFollowed = () => {
      const now = state();
      return now === LEADS_TO[order] || (order === 'drain' && now === undefined);
    };
    if (!hasFollowed()) await this.#send(worker, order, signal, hasFollowed);
    if (order !== 'drain') return;
    await this.#until(signal, () => {
      const found = this.view.named(worker.worker).find((one) => one.incarnation === worker.incarnation);
      if (found && this.view.isSilent(worker)) throw lostWhileDraining(worker);
      if (found) onStep(progressOf(worker, found));
      return found === undefined;
    });
  }

  /** Sends the order until its effect is seen. Workers follow it once. */
  async #send(
    worker: WorkerKey,
    order: OperatorOrder,
    signal: AbortSignal,
    hasFollowed: () => boolean,
  ): Promise<void> {
    const signer = signerOf(this.creds);
    const subject = this.subjects.order(worker, order);
    const signed = signer.sign(subject, pack({ v: PROTOCOL, token: randomBytes(16).toString('base64url') }));
    const send = () => this.connection.publish(subject, signed);
    const again = setInterval(send, AGAIN_MS);
    const late = AbortSignal.timeout(FOLLOW_MS);
    try {
      send();
      await this.#until(AbortSignal.any([signal, late]), hasFollowed);
    } catch (error) {
      throw late.aborted && !signal.aborted ? notFollowed(worker, order) : error;
    } finally {
      clearInterval(again);
    }
  }

  /** Undefined once it has ended. */
  #stateOf(worker: WorkerKey): Beat['state'] | undefined {
    return this.view.named(worker.worker).find((one) => one.incarnation === worker.incarnation)?.state;
  }

  /** Looks at every heartbeat, and from time to time for those that are missing. */
  #until(signal: AbortSignal, isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearInterval(timer);
        unlisten();
        signal.removeEventListener('abort', look);
      };
      const look = () => {
        try {
          if (signal.aborted) throw signal.reason;
          if (!isSo()) return;
          stop();
          resolve();
        } catch (error) {
          stop();
          reject(error);
        }
      };
      const unlisten = this.view.onHeard(look);
      const timer = setInterval(look, AGAIN_MS);
      signal.addEventListener('abort', look);
      look();
    });
  }

  #unknown(name: string): PungiError {
    const all = this.view.status().workers;
    const names = all.filter(({ state }) => state !== 'silent').map((worker) => worker.name);
    const isSilent = all.some((worker) => worker.name === name);
    const what = isSilent
      ? `The worker "${name}" is silent: it cannot follow an order`
      : `There is no worker "${name}" in the cluster "${this.address.name}"`;
    const meant = isSilent ? undefined : similarName(name, names);
    const suggestion = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    return new PungiError(
      'INVALID_INPUT',
      `${what}${suggestion}; connected: ${names.join(', ') || 'none'}.`,
      { workers: names },
    );
  }
}

function progressOf({ worker }: WorkerKey, { busy = 0, sessions = 0 }: Partial<Beat>): string {
  const left = [countText(busy, 'run'), countText(sessions, 'session')].join(' and ');
  return `${worker} is draining: ${left} left.`;
}

const notFollowed = ({ worker }: WorkerKey, order: OperatorOrder) =>
  new PungiError(
    'DENIED',
    `The worker ${worker} did not follow the order to ${order} within ${FOLLOW_MS / 1000} s: it may not know the key in --creds (its front-ends.txt and operators.txt), or these credentials may not send orders.`,
  );

const lostWhileDraining = ({ worker }: WorkerKey) =>
  new PungiError('RUN_LOST', `The worker ${worker} fell silent while it was drained.`);
