import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { PungiError } from '@pungi/core/base';
import type { Job } from '@pungi/core/engine';
import { type Go, JobMessage, parse } from '../protocol/messages.js';
import type { SealedStore } from '../sealed-store.js';

/** A job whose inputs are on this machine. */
export interface LoadedJob {
  job: Job;
  /** Removes the files. */
  remove(): Promise<void>;
}

/** More than a request can hold. */
const MOST_JOB_BYTES = 64 * 1024 * 1024;

/** Fetches what a run was given by reference. Throws what is in the way. */
export async function loadJob(order: Go, store: SealedStore): Promise<LoadedJob> {
  const job = order.job ?? (await storedJob(order, store));
  const { sources = [] } = order;
  if (sources.length === 0) return { job, remove: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'pungi-inputs-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const local = [];
    for (const [index, { path, input }] of sources.entries()) {
      const from = join(folder, `${index}`);
      await pipeline(store.get(input), createWriteStream(from, { mode: 0o600 }));
      local.push({ path, from, size: input.bytes });
    }
    return { job: { ...job, sources: local }, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function storedJob({ storedJob }: Go, store: SealedStore): Promise<Job> {
  const fits = storedJob !== undefined && storedJob.bytes <= MOST_JOB_BYTES;
  const job = fits ? parse(JobMessage, await buffer(store.get(storedJob))) : undefined;
  if (job === undefined) throw new PungiError('INTERNAL_ERROR', 'the job of the run cannot be read');
  return job;
}
