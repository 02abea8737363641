import { type JetStreamManager, jetstreamManager, StorageType } from '@nats-io/jetstream';
import type { TrailReader } from '@pungi/core/audit';
import { within } from '@pungi/core/base';
import { isConflict, isMissingStream } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { CHECKPOINT_LIMITS, Checkpoint, type Reference, referenceTo } from '../protocol/checkpoints.js';
import { pack, parse } from '../protocol/messages.js';
import { contentOf } from '../protocol/signing.js';
import { storeName } from '../protocol/stores.js';
import { CHECKPOINT_MS } from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';
import type { AuditParts, OwnTrail } from './own-trail.js';

const ANSWER_MS = 1000;
/** The audit trail is closed within this time, or the last checkpoint is not published. */
const CLOSE_MS = 5000;

/**
 * Publishes the head of the front end's audit trail whenever it has grown, so that other machines know it. No run waits for it:
 * what could not be published is covered by the next one.
 */
export class CheckpointPublisher {
  readonly #stream: string;
  readonly #subject: string;
  readonly #timer: NodeJS.Timeout;
  #manager: Promise<JetStreamManager> | undefined;
  #published: Pick<Checkpoint, 'trail' | 'seq' | 'hash'> | undefined;
  #under: Promise<void> | undefined;

  /** `closed`: the audit trail has got its last entry. */
  constructor(
    private readonly parts: AuditParts,
    private readonly trail: OwnTrail,
    private readonly closed: Promise<void>,
  ) {
    this.#stream = storeName(parts.subjects.cluster, 'checkpoints');
    this.#subject = parts.subjects.checkpoint(parts.signer.publicKey);
    this.#timer = setInterval(() => this.#look(), CHECKPOINT_MS).unref();
  }

  /** Publishes the last head. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await within(this.closed, CLOSE_MS);
    await this.#under;
    this.#look();
    await this.#under;
  }

  #look(): void {
    this.#under ??= this.#publishNew()
      .catch((error: Error) => {
        this.#manager = undefined;
        this.parts.logger.debug('A checkpoint of the audit trail could not be published', {
          reason: error.message,
        });
      })
      .finally(() => {
        this.#under = undefined;
      });
  }

  async #publishNew(): Promise<void> {
    if (this.parts.connection.isClosed()) return;
    const reader = await this.trail.open();
    const { seq, hash } = reader.head();
    const { seq: before, hash: as } = this.#published ?? {};
    if (seq === before && hash === as) return;
    // Another process of this front end may publish at the same time; then the head is read again.
    for (let tries = 0; tries < 3; tries += 1) if (await this.#publish(reader)) return;
  }

  /** Returns false if another one was published meanwhile. */
  async #publish(reader: TrailReader): Promise<boolean> {
    const manager = await this.#opened();
    const previous = await this.#newest(manager, this.#subject);
    const seen = await this.#newest(manager, this.parts.subjects.checkpoints);
    // Read after the last one, so that numbers never go back.
    const head = { trail: reader.id(), ...reader.head() };
    const { signer, name } = this.parts;
    const checkpoint: Checkpoint = {
      ...{ v: PROTOCOL, front: name, ...head },
      ...{ at: new Date().toISOString(), previous, seen },
    };
    try {
      await manager.jetstream().publish(this.#subject, signer.sign(this.#subject, pack(checkpoint)), {
        timeout: ANSWER_MS,
        expect: { lastSubjectSequence: previous?.sequence ?? 0 },
      });
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
    this.#reportLoss(head);
    this.#published = head;
    return true;
  }

  async #newest(manager: JetStreamManager, subject: string): Promise<Reference | null> {
    const found = await manager.streams.getMessage(this.#stream, { last_by_subj: subject });
    if (found === null) return null;
    const message = bytesOf(found);
    // The one before this start: entries that were lost in between are reported at once.
    if (subject === this.#subject) this.#published ??= parse(Checkpoint, contentOf(message));
    return referenceTo(found.seq, message);
  }

  #opened(): Promise<JetStreamManager> {
    this.#manager ??= this.#open();
    return this.#manager;
  }

  async #open(): Promise<JetStreamManager> {
    const manager = await jetstreamManager(this.parts.connection, { checkAPI: false, timeout: ANSWER_MS });
    try {
      await manager.streams.info(this.#stream);
    } catch (error) {
      if (!isMissingStream(error)) throw error;
      await manager.streams.add({
        name: this.#stream,
        subjects: [this.parts.subjects.checkpoints],
        storage: StorageType.File,
        discard: 'old',
        ...CHECKPOINT_LIMITS,
      });
    }
    return manager;
  }

  /** Published all the same: it is evidence. */
  #reportLoss({ trail, seq }: Pick<Checkpoint, 'trail' | 'seq'>): void {
    const before = this.#published;
    if (before === undefined || (before.trail === trail && before.seq <= seq)) return;
    this.parts.logger.error('The audit trail has lost entries, or was replaced: verify it', {
      before: before.seq,
      now: seq,
    });
  }
}
