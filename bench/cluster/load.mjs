// A front end in a process of its own, which sends itself runs at a given rate and reports how they went.
import { setTimeout as pause } from 'node:timers/promises';
import { ClusterBackend } from '../../dist/cluster/src/index.js';
import { Pungi } from '../../dist/core/src/index.js';
import { loadConfig, silentLogger } from '../../dist/pungi/src/index.js';
import { timeRouting } from './overhead.mjs';

/** More runs would wait in vain. */
const MOST_UNDER_WAY = 1000;
const TICK_MS = 2;
const AFTER_MS = 3000;

let pungi;
let routing = [];

async function open({ address, creds, env, workers }) {
  const backend = await ClusterBackend.connect({ ...address, creds }, silentLogger);
  pungi = Pungi.start(loadConfig({ env }), silentLogger, 'server', backend);
  timeRouting(backend, { push: (ms) => routing.push(ms) });
  while (backend.workers.length < workers) await pause(50);
  await pungi.ready();
}

/** `rate`: runs a second, however long they take. Without it, `lanes` runs are always under way. */
async function load({ rate, lanes, ms }) {
  routing = [];
  const taken = { planned: 0, ok: 0, other: {} };
  const stop = new AbortController();
  const [cpu, loop, began] = [process.cpuUsage(), performance.eventLoopUtilization(), performance.now()];
  const under = new Set();
  const send = () => {
    taken.planned += 1;
    const running = one(taken, stop.signal).finally(() => under.delete(running));
    under.add(running);
    return running;
  };
  if (rate === undefined) {
    const lane = async () => {
      while (performance.now() - began < ms) await send();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  } else await sendAt(rate, ms, began, under, send);
  await Promise.race([Promise.all(under), pause(AFTER_MS)]);
  const tookMs = performance.now() - began;
  const spent = process.cpuUsage(cpu);
  const { utilization } = performance.eventLoopUtilization(loop);
  const samples = routing;
  stop.abort();
  await Promise.race([Promise.all(under), pause(AFTER_MS)]);
  return { ...taken, tookMs, cpuMs: (spent.user + spent.system) / 1000, utilization, routing: samples };
}

async function sendAt(rate, ms, began, under, send) {
  let due = 0;
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - began) {
    const now = Math.floor((elapsed * rate) / 1000);
    for (; due < now && under.size < MOST_UNDER_WAY; due += 1) send();
    due = now;
    await pause(TICK_MS);
  }
}

async function one(taken, signal) {
  const { verdict } = await pungi.run({ code: 'print(1)' }, { signal }).catch((error) => ({
    verdict: { kind: error.code ?? error.message },
  }));
  if (verdict.kind === 'ok') taken.ok += 1;
  else taken.other[verdict.kind] = (taken.other[verdict.kind] ?? 0) + 1;
}

process.on('message', async ({ id, ...order }) => {
  try {
    const result = order.kind === 'open' ? await open(order) : await load(order);
    process.send({ id, result });
  } catch (error) {
    process.send({ id, error: error.message });
  }
});
process.once('disconnect', () => process.exit());
