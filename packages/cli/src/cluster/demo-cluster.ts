import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ClusterBackend, makeKeyPair, Operator, writeCredentials } from '@pungi/cluster';
import { Pungi } from '@pungi/core';
import { oneLine, PACKAGE_ROOT, PungiError, silentLogger } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import { defaultBase, ensureNatsServer } from '@pungi/core/environments';
import { findInterpreter, findProgram, ServerProcess } from '@pungi/core/processes';

const MAIN = join(PACKAGE_ROOT, 'dist/bundle/main.js');
const NAME = 'demo';
const LOOK_MS = 50;
const STOP_MS = 10_000;
/** Runs that a worker of the demonstration takes at the same time. */
export const SLOTS = 2;

/** A NATS server, a front end in this process, and workers, all in a temporary folder. Nothing of it outlives `close`. */
export class DemoCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pungi-demo-'));
  readonly #keys = { nats: makeKeyPair(), signing: makeKeyPair() };
  readonly #processes = new Map<string, ServerProcess>();
  #url = '';
  #backend: ClusterBackend | undefined;
  #pungi: Pungi | undefined;
  #operator: Operator | undefined;

  constructor(
    private readonly config: Config,
    private readonly signal: AbortSignal,
  ) {}

  get pungi(): Pungi {
    return this.#pungi!;
  }

  get operator(): Operator {
    return this.#operator!;
  }

  /** Starts NATS and the front end. Throws TOOL_UNAVAILABLE if there is no NATS server and none can be fetched. */
  async start(): Promise<void> {
    const { nats, signing } = this.#keys;
    writeCredentials(this.#path('front'), { nats: nats.seed, signing: signing.seed });
    writeCredentials(this.#path('worker'), { nats: nats.seed, frontEnds: signing.publicKey });
    this.#url = await this.#startNats();
    const address = { url: this.#url, name: NAME };
    this.#operator = await Operator.connect(address, this.#path('front'));
    this.#backend = await ClusterBackend.connect({ ...address, creds: this.#path('front') }, silentLogger);
    const folders = {
      venvsBasePath: this.#path('environments'),
      auditDir: this.#path('audit'),
      artifactDir: this.#path('artifacts'),
      backgroundDir: this.#path('background'),
    };
    const settings = { maxConcurrentExecutions: 64, preinstalledPackages: [], ...folders };
    this.#pungi = Pungi.start({ ...this.config, ...settings }, silentLogger, 'server', this.#backend);
  }

  /** Resolves when the worker takes runs. */
  async startWorker(name: string, label: string): Promise<void> {
    const cluster = ['--cluster', this.#url, '--cluster-name', NAME, '--creds', this.#path('worker')];
    const own = ['--worker-name', name, '--label', label, '--max-concurrent-executions', `${SLOTS}`];
    const args = [MAIN, 'worker', ...cluster, ...own];
    const worker = await this.#spawn(name, process.execPath, args);
    const isReady = ({ state, ...one }: { name: string; state: string }) =>
      one.name === name && state === 'ready';
    // The front end hears the same heartbeats as the operator.
    await this.#until(worker, () => this.operator.view.status().workers.some(isReady));
    await this.#until(worker, () => this.#backend!.cluster().workers.some(isReady));
  }

  /** As a crash or a power loss does. */
  kill(name: string): void {
    process.kill(this.#processes.get(name)!.pid, 'SIGKILL');
  }

  /** The runs that a worker has started, by its own trail. */
  started(name: string): Set<string> {
    const path = join(this.#path('state'), 'pungi', 'cluster', `${name}.jsonl`);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    const entries = lines
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as { event: string; run: string });
    return new Set(entries.filter(({ event }) => event === 'started').map(({ run }) => run));
  }

  async close(): Promise<void> {
    await this.#pungi?.close();
    await this.#operator?.close();
    // NATS is the last, so that workers can say that they end.
    const all = [...this.#processes.entries()];
    for (const group of [all.filter(([name]) => name !== 'nats'), all.filter(([name]) => name === 'nats')])
      await Promise.all(group.map(([, one]) => one.stop(STOP_MS, { readsInput: false })));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startNats(): Promise<string> {
    const { python: named, venvsBasePath: base = defaultBase() } = this.config;
    const { path: python } = await findInterpreter(named);
    const env = process.env;
    const program =
      findProgram('nats-server', this.#folder, env['PATH'] ?? '') ??
      (await ensureNatsServer({ base, python, env, closing: this.signal }));
    const ports = this.#path('ports');
    mkdirSync(ports);
    const users = `authorization { users: [ { nkey: ${this.#keys.nats.publicKey} } ] }`;
    const store = `jetstream { store_dir: ${JSON.stringify(this.#path('jetstream'))} }`;
    writeFileSync(this.#path('nats.conf'), `${users}\n${store}\n`, { mode: 0o600 });
    const args = ['-a', '127.0.0.1', '-p', '-1', '-c', this.#path('nats.conf'), '--ports_file_dir', ports];
    const nats = await this.#spawn('nats', program, args);
    const addresses = () => {
      const [file] = readdirSync(ports);
      const text = file === undefined ? '' : readFileSync(join(ports, file), 'utf8');
      return text === '' ? undefined : (JSON.parse(text) as { nats: string[] }).nats;
    };
    await this.#until(nats, () => addresses() !== undefined);
    return addresses()![0]!;
  }

  async #spawn(name: string, command: string, args: readonly string[]): Promise<ServerProcess> {
    const env = { ...process.env, XDG_STATE_HOME: this.#path('state'), LOG_FILE: this.#path(`${name}.log`) };
    const given = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const folder = this.#folder;
    const started = await ServerProcess.start({ command, args, env: Object.fromEntries(given), folder });
    this.#processes.set(name, started);
    started.stdout.resume();
    return started;
  }

  /** Waits for something that a process does. Throws what it printed if it ends instead. */
  async #until(running: ServerProcess, isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      this.signal.throwIfAborted();
      if (running.end !== undefined) {
        const printed = oneLine(running.stderr.since(0)) || 'it printed nothing';
        throw new PungiError('TOOL_UNAVAILABLE', `A process of the demonstration ended: ${printed}`);
      }
      await pause(LOOK_MS);
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}
