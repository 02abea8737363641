import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { type Running, start } from '../../cli/tests/pungi.js';
import { silentLogger } from '../../core/src/base/logger.js';
import type { GivenConfig } from '../../core/src/config/schema.js';
import { Pungi } from '../../core/src/pungi.js';
import { makeKeyPair, writeCredentials } from '../src/credentials.js';
import { ClusterBackend } from '../src/front/cluster-backend.js';
import { FrontLink } from '../src/front/link.js';
import { Signer } from '../src/protocol/signing.js';
import { subjectsOf } from '../src/protocol/subjects.js';
import { Nats } from './nats.js';

export interface TrailLine {
  event: string;
  run: string;
  /** Of an environment that was built. */
  environment?: string;
}

/** A worker in a process of its own. */
export class TestWorker {
  constructor(
    readonly name: string,
    readonly running: Running,
    private readonly state: string,
  ) {}

  get pid(): number {
    return this.running.child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.running.child.kill(signal);
  }

  /** What it says that it has started and ended. */
  get trail(): TrailLine[] {
    const path = join(this.state, 'pungi', 'cluster', `${this.name}.jsonl`);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line));
  }
}

/** A NATS server, and the front ends and workers that tests start at it. */
export class TestCluster {
  readonly #folder = lastingFolder();
  readonly #workers: TestWorker[] = [];
  readonly #fronts: Pungi[] = [];
  /** Of every worker. */
  env: Record<string, string> = {};
  readonly signing = makeKeyPair();
  readonly operator = makeKeyPair();
  readonly frontCreds = join(this.#folder, 'front');
  readonly workerCreds = join(this.#folder, 'worker');
  #serial = 0;

  constructor(readonly nats: Nats) {
    writeCredentials(this.frontCreds, { signing: this.signing.seed, operators: this.operator.publicKey });
    writeCredentials(this.workerCreds, { frontEnds: this.signing.publicKey });
  }

  static async start(): Promise<TestCluster> {
    return new TestCluster(await Nats.start());
  }

  /** Resolves when the worker takes runs. */
  async worker(args: string[] = [], env: Record<string, string> = {}): Promise<TestWorker> {
    this.#serial += 1;
    const name = `w${this.#serial}`;
    const state = join(this.#folder, name);
    const running = start(
      ['worker', '--cluster', this.nats.url, '--creds', this.workerCreds, '--worker-name', name, ...args],
      {
        env: {
          XDG_STATE_HOME: state,
          VENVS_BASE_PATH: join(state, 'environments'),
          POOL_SIZE: '1',
          ...this.env,
          ...env,
        },
      },
    );
    const worker = new TestWorker(name, running, state);
    this.#workers.push(worker);
    await running.shows('stderr', 'The worker takes runs');
    return worker;
  }

  async backend(logger = silentLogger): Promise<ClusterBackend> {
    return ClusterBackend.connect({ url: this.nats.url, name: 'main', creds: this.frontCreds }, logger);
  }

  /** The link of a front end by itself. */
  async link(): Promise<FrontLink> {
    const connection = await connect({ servers: this.nats.url });
    const { seed, publicKey } = this.signing;
    const signer = new Signer(seed, publicKey);
    return new FrontLink({ connection, subjects: subjectsOf('main'), signer, logger: silentLogger });
  }

  /** A front end in this process, which hears the workers that were started. */
  async front(config: GivenConfig = {}, logger = silentLogger): Promise<Pungi> {
    const backend = await this.backend(logger);
    const settings = { audit: false, venvsBasePath: join(this.#folder, 'environments'), ...config };
    const pungi = Pungi.start(settings, silentLogger, 'server', backend);
    this.#fronts.push(pungi);
    const expected = this.#workers.filter(({ running }) => running.child.exitCode === null).length;
    await until(() => backend.workers.length >= expected, 'the front end hears all workers');
    return pungi;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#fronts.map((pungi) => pungi.close()));
    for (const { running } of this.#workers) {
      running.child.kill('SIGCONT');
      running.child.kill('SIGKILL');
    }
    await Promise.all(this.#workers.map(({ running }) => running.ended));
    await this.nats.stop();
  }
}
