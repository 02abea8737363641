import { CheckpointPublisher } from './checkpoint-publisher.js';
import { type AuditParts, OwnTrail } from './own-trail.js';
import { TrailAnswers } from './trail-answers.js';

/** What the cluster gets from the audit trail of a front end: its heads, and for operators its entries. */
export class AuditLink {
  readonly #trail: OwnTrail | undefined;
  readonly #publisher: CheckpointPublisher | undefined;
  readonly #answers: TrailAnswers;

  /** `folder`: null if nothing is recorded. `closed`: the trail has got its last entry. */
  constructor(parts: AuditParts, folder: string | null, closed: Promise<void>) {
    this.#trail = folder === null ? undefined : new OwnTrail(folder);
    this.#publisher = this.#trail && new CheckpointPublisher(parts, this.#trail, closed);
    this.#answers = new TrailAnswers(parts, this.#trail);
  }

  async close(): Promise<void> {
    await this.#publisher?.close();
    await this.#answers.close();
    await this.#trail?.close();
  }
}
