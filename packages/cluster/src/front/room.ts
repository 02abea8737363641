import { PungiError } from '@pungi/core/base';
import type { StepOptions } from '@pungi/core/contract';
import { tooMany } from '@pungi/core/environments';
import type { ChangeEvent, Entry } from '../protocol/environments.js';
import type { Catalog } from './catalog.js';
import type { Entries } from './entries.js';
import { adding, withLease } from './lease.js';
import type { FrontLink } from './link.js';
import type { OngoingChanges } from './ongoing-changes.js';
import { noRuns } from './usage.js';

export interface RoomParts {
  link: FrontLink;
  entries: Entries;
  catalog: Catalog;
  changes: OngoingChanges;
  /** Environments of the cluster. */
  most: number;
}

/** Adds and removes environments, whose number is bounded. */
export class Room {
  constructor(private readonly parts: RoomParts) {}

  /** One front end at a time adds an environment, so that two do not both see room for one more. */
  async add(entry: Entry, revision: number): Promise<void> {
    const { entries, changes } = this.parts;
    const { name, inline } = entry.metadata;
    await withLease(entries.bucket, adding(name), { wait: true, signal: changes.closing }, async () => {
      if (inline && this.#isFull) await this.#evict();
      this.refuseTooMany();
      await entries.write(name, entry, revision);
    });
  }

  get #isFull(): boolean {
    return this.parts.entries.names.length >= this.parts.most;
  }

  refuseTooMany(): void {
    if (this.#isFull) throw tooMany(this.parts.most);
  }

  /** Environments of scripts are made by themselves, and make room by themselves: the least recently used first. */
  async #evict(): Promise<void> {
    const { entries, catalog } = this.parts;
    const found = entries.names.filter((name) => catalog.find(name)?.metadata.inline);
    found.sort((one, other) => entries.use(one).order - entries.use(other).order);
    for (const name of found)
      if (await this.removeUnused(name, 'made room for the environment of a run', {})) return;
  }

  /** Returns whether it could be removed: an environment in use stays. */
  async removeUnused(name: string, reason: string, options: StepOptions): Promise<boolean> {
    try {
      await this.remove(name, { action: 'clean', details: { reason } }, options, false);
      return true;
    } catch (error) {
      const { code } = PungiError.from(error);
      if (code === 'ENVIRONMENT_NOT_FOUND' || code === 'ENVIRONMENT_IN_USE') return false;
      throw error;
    }
  }

  async remove(name: string, event: ChangeEvent, options: StepOptions, wait: boolean): Promise<void> {
    const { link, entries, catalog, changes } = this.parts;
    await changes.change(
      name,
      options,
      async (steps) => {
        await noRuns(link, name, { ...steps, wait });
        const { entry, revision } = await catalog.stored(name);
        await entries.write(name, undefined, revision);
        await changes.record(name, event, entry, options);
      },
      wait,
    );
  }
}
