import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@pungi/core/base';
import type { LocalEnvironments, OnEnvironmentEvent } from '@pungi/core/environments';
import type { Subjects, WorkerKey } from '../protocol/subjects.js';
import { WheelStore } from '../wheel-store.js';
import { Changes } from './changes.js';
import { EntryReader } from './entry-reader.js';
import { Generations } from './generations.js';
import type { SignedInbox } from './signed-inbox.js';
import type { Trail } from './trail.js';
import { Wheels } from './wheels.js';

export interface WorkerEnvironmentsParts {
  connection: NatsConnection;
  subjects: Subjects;
  inbox: SignedInbox;
  key: WorkerKey;
  reply: (front: string, token: string, message: Buffer) => void;
  trail: Trail;
  logger: Logger;
  /** Makes those of this machine. */
  open: (onEvent: OnEnvironmentEvent) => LocalEnvironments;
  /** What the environments that it has built may take together. */
  diskMb: number;
  /** Called when there are others than before. */
  onWarm: () => void;
  /** Called with the front end of a change that is taken. */
  onTaken: (front: string) => void;
}

/** The environments of a cluster on one worker: those that it has built, and the changes that it makes for front ends. */
export class WorkerEnvironments {
  readonly generations: Generations;
  readonly changes: Changes;
  readonly #local: LocalEnvironments;

  constructor(parts: WorkerEnvironmentsParts) {
    const { connection, subjects, inbox, key, reply, trail, logger, diskMb, onWarm, onTaken } = parts;
    const environments = parts.open(async (event) => this.changes.note(event));
    const reader = new EntryReader(connection, subjects.cluster);
    const read = reader.read.bind(reader);
    const wheels = new Wheels(new WheelStore(connection, subjects.cluster), diskMb, logger);
    this.#local = environments;
    this.generations = new Generations({
      environments,
      wheels,
      read,
      mostMb: diskMb,
      onChange: onWarm,
      onBuilt: ({ name, generation }) => trail.note({ event: 'built', environment: name, generation }),
      logger,
    });
    const { generations } = this;
    const { change: subject } = subjects;
    this.changes = new Changes({
      inbox,
      environments,
      generations,
      wheels,
      read,
      key,
      subject,
      reply,
      onTaken,
      logger,
    });
  }

  close(): Promise<void> {
    return this.#local.close();
  }
}
