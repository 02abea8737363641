import { VERSION } from '@pungi/core/base';
import type { z } from 'zod';
import type { AnyBeat, Beat, FrontBeat } from '../protocol/beats.js';
import { WORKER_SILENCE_MS } from '../protocol/timing.js';
import { isCompatible, PROTOCOL } from '../protocol/version.js';

/** A worker as an operator sees it. What its version does not report is null. */
export interface SeenWorker {
  name: string;
  /** `silent`: it is not heard any more, and has not said that it ends. */
  state: Beat['state'] | 'silent';
  /** How long it is silent, if it is. */
  silentMs?: number;
  version: string;
  protocol: number;
  details: Pick<
    Beat,
    'arch' | 'labels' | 'cores' | 'load' | 'slots' | 'busy' | 'queue' | 'sessions' | 'warm' | 'tier'
  > | null;
}

export interface SeenFront {
  front: string;
  host: string;
  version: string;
  queue: NonNullable<FrontBeat['queue']>;
}

export interface ClusterStatus {
  cluster: string;
  workers: SeenWorker[];
  frontEnds: SeenFront[];
  totals: Record<
    'workers' | 'ready' | 'cores' | 'slots' | 'busy' | 'sessions' | 'active' | 'waiting',
    number
  >;
  /** Sentences for a person. */
  problems: string[];
}

export type Unheard = ReadonlySet<'workers' | 'front ends'>;

/** Adds totals and problems to what is seen. */
export const statusOf = (
  cluster: string,
  workers: SeenWorker[],
  frontEnds: SeenFront[],
  unheard: Unheard,
): ClusterStatus => ({
  cluster,
  workers,
  frontEnds,
  totals: totalsOf(workers, frontEnds),
  problems: [
    ...[...unheard].map((who) => `These credentials may not hear ${who}: use those of an operator.`),
    ...problemsOf(cluster, workers, frontEnds, unheard),
  ],
});

/** Of a heartbeat of any version. */
export function seenWorker(beat: z.infer<typeof AnyBeat> & Partial<Beat>, silentMs: number): SeenWorker {
  const isSilent = silentMs > WORKER_SILENCE_MS;
  return {
    name: beat.worker,
    state: isSilent ? 'silent' : beat.state,
    ...(isSilent && { silentMs }),
    version: beat.version,
    protocol: beat.v,
    details: 'arch' in beat ? detailsOf(beat as Beat) : null,
  };
}

function detailsOf(beat: Beat): SeenWorker['details'] {
  const { arch, labels, cores, load, slots, busy, queue, sessions, warm, tier } = beat;
  return { arch, labels, cores, load, slots, busy, queue, sessions, warm, tier };
}

export const seenFront = ({ front, host = '', version = '', queue }: FrontBeat): SeenFront => ({
  front,
  host,
  version,
  queue: queue ?? { active: 0, waiting: 0, capacity: 0 },
});

function totalsOf(workers: readonly SeenWorker[], fronts: readonly SeenFront[]): ClusterStatus['totals'] {
  const heard = workers.filter(({ state }) => state !== 'silent');
  const sum = (name: 'cores' | 'slots' | 'busy' | 'sessions') =>
    heard.reduce((total, { details }) => total + (details?.[name] ?? 0), 0);
  const queued = (name: 'active' | 'waiting') => fronts.reduce((total, { queue }) => total + queue[name], 0);
  return {
    workers: heard.length,
    ready: heard.filter(({ state }) => state === 'ready').length,
    ...{ cores: sum('cores'), slots: sum('slots'), busy: sum('busy'), sessions: sum('sessions') },
    ...{ active: queued('active'), waiting: queued('waiting') },
  };
}

function problemsOf(
  cluster: string,
  workers: readonly SeenWorker[],
  fronts: readonly SeenFront[],
  unheard: Unheard,
): string[] {
  const heard = workers.filter(({ state }) => state !== 'silent');
  const problems: string[] = [];
  if (heard.length === 0 && !unheard.has('workers'))
    problems.push(`No worker is connected to the cluster "${cluster}".`);
  else if (heard.length > 0 && !heard.some(({ state }) => state === 'ready'))
    problems.push('No worker takes runs.');
  if (fronts.length === 0 && !unheard.has('front ends')) problems.push('No front end is connected.');
  for (const { name, silentMs } of workers)
    if (silentMs !== undefined)
      problems.push(`The worker ${name} has been silent for ${Math.round(silentMs / 1000)} s.`);
  for (const { name, protocol, version } of heard)
    if (!isCompatible(protocol))
      problems.push(
        `The worker ${name} has version ${version}, which gets no runs from version ${VERSION} (protocols ${protocol} and ${PROTOCOL}): update one of them.`,
      );
    else if (version !== VERSION)
      problems.push(`The worker ${name} has version ${version}, and this command ${VERSION}.`);
  for (const { host, version } of fronts)
    if (version !== VERSION)
      problems.push(`The front end on ${host} has version ${version}, and this command ${VERSION}.`);
  return problems;
}
