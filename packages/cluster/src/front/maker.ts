import { PungiError, sha256 } from '@pungi/core/base';
import type { PackageReport, StepOptions } from '@pungi/core/contract';
import { parseLockFile } from '@pungi/core/environments';
import { type ChangeEvent, type Entry, generationOf, type Operation } from '../protocol/environments.js';
import { PROTOCOL } from '../protocol/version.js';
import type { Catalog } from './catalog.js';
import { type Changed, type ChangeRequests, errorOf } from './change-requests.js';
import type { Entries } from './entries.js';
import type { OngoingChanges } from './ongoing-changes.js';
import type { Room } from './room.js';

export interface MakerParts {
  entries: Entries;
  catalog: Catalog;
  changes: OngoingChanges;
  requests: ChangeRequests;
  room: Room;
}

type Named = Extract<Operation, { venvName: string }>;

/** Attempts for what is overtaken by a change of another front end. */
export const ATTEMPTS = 3;

/** Has environments made and changed by workers, and stores what they return. */
export class Maker {
  constructor(private readonly parts: MakerParts) {}

  /** Lets a worker make the change, and stores the result if nobody else has changed it meanwhile. */
  async make(operation: Named, options: StepOptions): Promise<PackageReport | null> {
    const { entries, changes, requests, room } = this.parts;
    const { venvName: name } = operation;
    return changes.change(name, options, async (steps) => {
      for (let attempt = 1; ; attempt += 1) {
        const { entry, revision } = await this.#before(operation).catch(async (error: unknown) => {
          await this.#recordFailure(operation, PungiError.from(error), options);
          throw error;
        });
        const from = entry && { name, generation: entry.metadata.generation };
        const answer = await requests.make(operation, from, steps);
        if (answer.kind === 'failed') {
          if (answer.isGone && attempt < ATTEMPTS) continue;
          for (const event of answer.events) await changes.record(name, event, undefined, options);
          throw errorOf(answer);
        }
        const after = entryOf(name, answer, entry);
        steps.signal?.throwIfAborted();
        if (entry === undefined) await room.add(after, revision);
        else await entries.write(name, after, revision);
        for (const event of answer.events) await changes.record(name, event, after, options);
        return answer.report;
      }
    });
  }

  /** The state that is changed. Throws why the operation cannot begin. */
  async #before({ kind, venvName }: Named): Promise<{ entry: Entry | undefined; revision: number }> {
    const { entries, catalog, room } = this.parts;
    const isNew = kind === 'create' || kind === 'import';
    const isFilled = kind === 'install' && venvName === catalog.defaultName;
    if (!isNew && !isFilled) return catalog.stored(venvName);
    const found = isNew ? await catalog.absent(venvName) : await entries.fresh(venvName);
    if (found.entry === undefined) room.refuseTooMany();
    return found;
  }

  /** Attempts to change packages are recorded, too. */
  async #recordFailure(operation: Named, { code }: PungiError, options: StepOptions): Promise<void> {
    if (!('packages' in operation) || operation.packages.length === 0) return;
    const action = operation.kind === 'uninstall' ? 'uninstall' : 'install';
    const { packages: requested } = operation;
    const event: ChangeEvent = { action, requested, added: [], removed: [], error: code };
    await this.parts.changes.record(operation.venvName, event, undefined, options);
  }

  /** Returns the name of an environment with what a worker has made. Two with the same content are one. */
  async provide(operation: Operation, options: StepOptions): Promise<string> {
    const { entries, changes, requests, room } = this.parts;
    const answer = await requests.make(operation, undefined, options);
    if (answer.kind === 'failed') throw errorOf(answer);
    const name = inlineName(answer.lock);
    const { entry, revision } = await entries.fresh(name);
    if (entry) return name;
    const made = entryOf(name, answer, undefined, true);
    try {
      await room.add(made, revision);
    } catch (error) {
      if ((await entries.fresh(name)).entry) return name;
      throw error;
    }
    const { python, requested } = made.metadata;
    const details = { pythonVersion: python.version, requested };
    await changes.record(name, { action: 'provide', details }, made, options);
    return name;
  }
}

/** The name of an environment that is known by its lock. */
export const inlineName = (lock: string) => `inline-${sha256(lock).slice(0, 20)}`;

/** What a worker has made, as the cluster keeps it. Throws INVALID_INPUT if its lock is none. */
function entryOf(
  name: string,
  { metadata, lock }: Changed,
  before: Entry | undefined,
  inline = false,
): Entry {
  parseLockFile(lock);
  const own = {
    name,
    inline,
    generation: generationOf(lock),
    created: before?.metadata.created ?? metadata.created,
  };
  const python = { path: '', version: metadata.python.version };
  return { v: PROTOCOL, metadata: { ...metadata, ...own, python, parent: null }, lock };
}
