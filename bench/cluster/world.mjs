// A cluster on this machine: a real NATS server, and workers and front ends as processes of their own.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ClusterBackend, makeKeyPair, writeCredentials } from '../../dist/cluster/src/index.js';
import { ensureNatsServer } from '../../dist/core/src/environments/index.js';
import { Pungi } from '../../dist/core/src/index.js';
import { findProgram } from '../../dist/core/src/processes.js';
import { loadConfig, silentLogger } from '../../dist/pungi/src/index.js';
import { KEPT, makeFolder } from '../folder.mjs';

const MAIN = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
const CLUSTER = 'bench';
const START_MS = 60_000;
const STOP_MS = 10_000;
const TICK_MS = 10;

/** Processes that are still there when the bench ends, whatever happened. */
const left = new Set();
process.once('exit', () => {
  for (const child of left) child.kill('SIGKILL');
});

/** Worlds that are open. */
const open = new Set();

/** Ends what a part has left that took too long. */
export const closeWorlds = () => Promise.all([...open].map((world) => world.close()));

/** Everything of it ends with `close`. */
export class World {
  #folder = makeFolder('cluster');
  #processes = [];
  #fronts = [];

  constructor(found) {
    this.found = found;
    const keys = makeKeyPair();
    this.frontCreds = this.path('front');
    this.workerCreds = this.path('worker');
    writeCredentials(this.frontCreds, { signing: keys.seed });
    writeCredentials(this.workerCreds, { frontEnds: keys.publicKey });
  }

  /** `found`: the interpreter and tier of the bench. */
  static async open(found) {
    const world = new World(found);
    open.add(world);
    try {
      await world.#startNats();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  path(name) {
    return join(this.#folder, name);
  }

  get address() {
    return { url: this.url, name: CLUSTER };
  }

  async #startNats() {
    const { python } = this.found;
    const program =
      findProgram('nats-server', this.#folder, process.env.PATH ?? '') ??
      (await ensureNatsServer({ base: KEPT, python, env: process.env }));
    const ports = this.path('ports');
    mkdirSync(ports);
    const own = ['-a', '127.0.0.1', '-p', '-1', '-m', '-1', '-js', '-sd', this.path('jetstream')];
    this.nats = this.start('nats', program, [...own, '--ports_file_dir', ports]);
    const addresses = await until('the NATS server has ports', () => {
      const [file] = readdirSync(ports);
      const text = file === undefined ? '' : readFileSync(join(ports, file), 'utf8');
      return text === '' ? undefined : JSON.parse(text);
    });
    const local = ([first]) => first.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//127.0.0.1:');
    this.url = local(addresses.nats);
    this.monitor = local(addresses.monitoring);
  }

  /** The counters of the NATS server. */
  async natsFigures() {
    const { in_msgs, out_msgs, in_bytes, out_bytes } = await (await fetch(`${this.monitor}/varz`)).json();
    return { messages: in_msgs + out_msgs, in: in_msgs, bytes: in_bytes + out_bytes };
  }

  /** A process of this cluster, whose output is kept for errors. `cores`: those that it may use. */
  start(name, command, args, { env = {}, cores, ipc = false } = {}) {
    const [program, given] =
      cores === undefined ? [command, args] : ['taskset', ['-c', `${cores}`, command, ...args]];
    const child = spawn(program, given, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', ...(ipc ? ['ipc'] : [])],
    });
    const started = { name, child, printed: '', hasEnded: false };
    left.add(child);
    child.stderr.setEncoding('utf8').on('data', (text) => {
      started.printed = (started.printed + text).slice(-20_000);
    });
    started.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        started.printed += error.message;
        resolve();
      });
      child.once('close', resolve);
    }).then(() => {
      started.hasEnded = true;
      left.delete(child);
    });
    this.#processes.push(started);
    return started;
  }

  /** A real worker, as `pungi worker` starts it. Resolves when it takes runs. */
  async worker(name, { slots = 4, labels = [], cores } = {}) {
    const { python, tier } = this.found;
    const cluster = ['--cluster', this.url, '--cluster-name', CLUSTER, '--creds', this.workerCreds];
    const own = ['--worker-name', name, '--max-concurrent-executions', `${slots}`, '--pool-size', `${slots}`];
    const labelled = labels.flatMap((label) => ['--label', label]);
    const env = {
      PUNGI_PYTHON: python,
      PUNGI_TIER: tier,
      ALLOW_UNSANDBOXED: String(tier === 'process'),
      LOG_LEVEL: 'info',
      XDG_STATE_HOME: this.path(name),
      VENVS_BASE_PATH: this.path(`${name}-environments`),
    };
    const args = [MAIN, 'worker', ...cluster, ...own, ...labelled];
    const worker = this.start(name, process.execPath, args, { env, cores });
    await until(
      `the worker ${name} takes runs`,
      () => worker.printed.includes('The worker takes runs'),
      worker,
    );
    return worker;
  }

  /** The lines of a worker's trail. */
  trail(name) {
    const path = join(this.path(name), 'pungi', 'cluster', `${name}.jsonl`);
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  }

  /** A front end in this process that hears so many workers. Runs are recorded, as by default, in a folder of the bench. */
  async front(workers, env = {}) {
    const backend = await ClusterBackend.connect({ ...this.address, creds: this.frontCreds }, silentLogger);
    const pungi = Pungi.start(
      loadConfig({ env: { ...frontSettings(this.path(`front-${this.#fronts.length}`)), ...env } }),
      silentLogger,
      'server',
      backend,
    );
    this.#fronts.push(pungi);
    await until('the front end hears all workers', () => backend.workers.length >= workers);
    await pungi.ready();
    return { pungi, backend };
  }

  async close() {
    open.delete(this);
    await Promise.allSettled(this.#fronts.map((pungi) => pungi.close()));
    // NATS is the last, so that workers can say that they end.
    const isNats = (one) => one === this.nats;
    for (const group of [this.#processes.filter((one) => !isNats(one)), this.#processes.filter(isNats)])
      await Promise.all(group.map(stop));
  }
}

/** Of a front end: it queues what workers are too busy for. */
export const frontSettings = (folder) => ({
  MAX_CONCURRENT_EXECUTIONS: '64',
  AUDIT_DIR: join(folder, 'audit'),
  VENVS_BASE_PATH: join(folder, 'environments'),
  ARTIFACT_DIR: join(folder, 'artifacts'),
  BACKGROUND_DIR: join(folder, 'background'),
  LOG_LEVEL: 'error',
});

async function stop({ child, ended, hasEnded }) {
  if (hasEnded) return;
  child.kill('SIGTERM');
  await Promise.race([ended, pause(STOP_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
}

/** Resolves to what `look` returns, once it is something. Throws if the process ends instead, or after a minute. */
export async function until(what, look, running) {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const found = look();
    if (found) return found;
    if (running?.hasEnded) throw new Error(`${running.name} ended: ${running.printed.trim().slice(-500)}`);
    if (performance.now() > deadline) throw new Error(`it did not happen within a minute: ${what}`);
    await pause(TICK_MS);
  }
}
