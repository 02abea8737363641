import type { Backend, Worker, WorkerSpec } from '@pungi/core/engine';
import { GenerationGone } from '@pungi/core/engine';
import type { Needed } from '../protocol/messages.js';
import type { Generations } from './generations.js';

/** Environments may be removed before a worker has started in them. */
const ATTEMPTS = 3;

/** Returns a process of this machine for a run. Builds its environment, if that is not there. */
export async function acquireFor(
  { poolSpec, environment }: Needed,
  { backend, generations }: { backend: Backend; generations: Generations },
  signal: AbortSignal,
): Promise<Worker> {
  for (let attempt = 1; ; attempt += 1) {
    const ref = environment && (await generations.ref(environment));
    const spec = { ref, ...(poolSpec && { poolSpec: { ...poolSpec, data: [] } }) } as WorkerSpec;
    try {
      return await backend.acquire(spec, signal);
    } catch (error) {
      if (!(error instanceof GenerationGone) || attempt === ATTEMPTS) throw error;
    }
  }
}
