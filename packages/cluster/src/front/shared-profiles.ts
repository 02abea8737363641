import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { SharedProfiles } from '@pungi/core';
import { type Logger, PungiError } from '@pungi/core/base';
import { type Chain, connectShared, problemText } from '@pungi/core/gate';
import { isMissingStream } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { openSet, PROFILE_KEY, profileBucketOf } from '../protocol/profiles.js';
import type { Verifier } from '../protocol/signing.js';
import { PROFILES_MS } from '../protocol/timing.js';

const ANSWER_MS = 2000;

export interface ClusterProfilesParts {
  connection: NatsConnection;
  cluster: string;
  /** Knows the owner. */
  verifier: Verifier;
  logger: Logger;
}

/**
 * The profiles that the owner of the cluster has signed. A front end looks for a new set every second: that needs no rights to
 * follow the bucket, and survives restarts of NATS. A set that is not newer, or not valid, changes nothing.
 */
export class ClusterProfiles implements SharedProfiles {
  chains: ReadonlyMap<string, Chain> = new Map();
  readonly #stream: string;
  readonly #subject: string;
  readonly #calls: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #manager: Promise<JetStreamManager> | undefined;
  /** The number of the last message of the bucket that was looked at. */
  #looked = 0;
  #version = 0;
  #isLooking = false;

  private constructor(private readonly parts: ClusterProfilesParts) {
    const bucket = profileBucketOf(parts.cluster);
    this.#stream = `KV_${bucket}`;
    this.#subject = `$KV.${bucket}.${PROFILE_KEY}`;
  }

  /** Resolves with the profiles that are in force: no run begins before. Throws CONFIGURATION_ERROR if NATS does not say. */
  static async open(parts: ClusterProfilesParts): Promise<ClusterProfiles> {
    const profiles = new ClusterProfiles(parts);
    await profiles.#look().catch((error: Error) => {
      const message = `The profiles of the cluster could not be read: ${error.message}. Check --creds.`;
      throw new PungiError('CONFIGURATION_ERROR', message, {}, error);
    });
    profiles.#timer = setInterval(() => void profiles.#lookAgain(), PROFILES_MS).unref();
    return profiles;
  }

  onChange(call: () => void): void {
    this.#calls.push(call);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #lookAgain(): Promise<void> {
    if (this.#isLooking || this.parts.connection.isClosed()) return;
    this.#isLooking = true;
    try {
      await this.#look();
    } catch (error) {
      this.#manager = undefined;
      this.parts.logger.debug('The shared profiles could not be read', { reason: (error as Error).message });
    } finally {
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    this.#manager ??= jetstreamManager(this.parts.connection, { checkAPI: false, timeout: ANSWER_MS });
    const manager = await this.#manager;
    const last = await this.#lastIn(manager);
    if (last === this.#looked) return;
    const found = await manager.streams.getMessage(this.#stream, { last_by_subj: this.#subject });
    this.#looked = last;
    const refused = found === null ? 'it is gone' : this.#take(bytesOf(found));
    if (refused === undefined) return;
    this.parts.logger.error('The shared profiles were refused, and those before stay in force', {
      why: refused,
      version: this.#version,
    });
  }

  /** 0 if nothing was ever shared. */
  async #lastIn(manager: JetStreamManager): Promise<number> {
    try {
      return (await manager.streams.info(this.#stream)).state.last_seq;
    } catch (error) {
      if (isMissingStream(error)) return 0;
      throw error;
    }
  }

  /** Returns why it was refused. */
  #take(value: Buffer): string | undefined {
    const { verifier, cluster, logger } = this.parts;
    const set = openSet(verifier, cluster, value);
    if (typeof set === 'string') return set;
    // The same again, such as after a restart of NATS, is no news.
    if (set.version === this.#version) return undefined;
    if (set.version < this.#version) return `it is version ${set.version}, which is older`;
    const { chains, problems } = connectShared(new Map(Object.entries(set.profiles)));
    if (problems.length > 0) return problems.map(problemText).join('; ');
    this.chains = chains;
    this.#version = set.version;
    logger.info('The profiles of the cluster are in force', {
      version: set.version,
      names: [...chains.keys()],
    });
    for (const call of this.#calls) call();
    return undefined;
  }
}
