import { setTimeout as pause } from 'node:timers/promises';
import type { Nats } from '../nats.js';
import type { ChaosFront } from './chaos-front.js';
import type { ChaosWorker } from './chaos-worker.js';

/** A fault from its beginning to its end. Returns false if this machine cannot have it. */
type Fault = (worker: ChaosWorker, nats: Nats, random: () => number) => Promise<unknown>;

/** Some of these are shorter than the silence after which a worker is lost, and some longer. */
const span = (random: () => number, mostMs = 4000) => pause(50 + random() * mostMs);

const OWED_MS = 2000;

/** What befalls workers, one after the other. */
export const WORKER_FAULTS: Record<string, Fault> = {
  kill: async (worker, _, random) => {
    worker.signal('SIGKILL');
    await worker.ended();
    await span(random, 1000);
    await worker.start();
  },
  stop: async (worker, _, random) => {
    worker.signal('SIGSTOP');
    await span(random);
    worker.signal('SIGCONT');
  },
  drain: async (worker) => {
    worker.signal('SIGTERM');
    await worker.ended();
    await worker.start();
  },
  cut: async (worker, _, random) => {
    worker.link.cut();
    await span(random);
    worker.link.heal();
  },
  hold: async (worker, _, random) => {
    worker.link.hold();
    await span(random);
    worker.link.heal();
  },
  slow: async (worker, _, random) => {
    worker.link.slow(random() * 300);
    await span(random);
    worker.link.heal();
  },
  reset: async (worker) => worker.link.reset(),
  fill: async (worker, _, random) => {
    if (!worker.fill()) return false;
    await span(random);
    worker.empty();
    // An end that could not be written is in the worker's memory until its next heartbeats: killed before, it takes the end along.
    await pause(OWED_MS);
    return true;
  },
};

/** What befalls a front end. Some of these are longer than the silence after which workers end its runs. */
export const FRONT_FAULTS: Record<string, (front: ChaosFront, random: () => number) => Promise<unknown>> = {
  'front-kill': async (front, random) => {
    await front.kill();
    await span(random);
    await front.start();
  },
  'front-stop': async (front, random) => {
    front.signal('SIGSTOP');
    await span(random, 6000);
    front.signal('SIGCONT');
  },
};

/** What befalls the NATS server. */
export const NATS_FAULTS: Record<string, Fault> = {
  'nats-restart': async (_, nats, random) => {
    await nats.kill();
    await span(random, 1000);
    await nats.start();
  },
  'nats-stall': async (_, nats, random) => {
    nats.signal('SIGSTOP');
    await span(random, 1500);
    nats.signal('SIGCONT');
  },
};
