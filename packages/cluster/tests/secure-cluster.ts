import { join } from 'node:path';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { type Running, start } from '../../cli/tests/pungi.js';
import { silentLogger } from '../../core/src/base/logger.js';
import type { GivenConfig } from '../../core/src/config/schema.js';
import { Pungi } from '../../core/src/pungi.js';
import { natsCredentials } from '../src/credentials.js';
import { ClusterBackend } from '../src/front/cluster-backend.js';
import { initCluster } from '../src/setup/cluster-folder.js';
import { Nats } from './nats.js';

/** A cluster as `pungi cluster init` writes it, with TLS, keys and permissions. */
export class SecureCluster {
  readonly #workers: Running[] = [];
  readonly #fronts: Pungi[] = [];
  readonly #connections: NatsConnection[] = [];

  private constructor(
    readonly folder: string,
    readonly nats: Nats,
  ) {}

  static async start(name = 'main'): Promise<SecureCluster> {
    const folder = join(lastingFolder(), 'cluster');
    initCluster(folder, { name, workers: 3, fronts: 2, hosts: [] });
    return new SecureCluster(folder, await Nats.start(folder));
  }

  creds(member: string): string {
    return join(this.folder, member);
  }

  /** Somebody who holds the keys of a member, and does with them whatever the NATS server lets him. */
  async connect(member: string): Promise<NatsConnection> {
    const { seed, caFile, inboxPrefix } = natsCredentials(this.creds(member));
    const connection = await connect({
      servers: this.nats.url,
      authenticator: nkeyAuthenticator(seed!),
      tls: { caFile: caFile! },
      inboxPrefix: inboxPrefix!,
      reconnect: false,
    });
    this.#connections.push(connection);
    return connection;
  }

  /** Resolves when the worker takes runs. */
  async worker(member: string, env: Record<string, string> = {}): Promise<Running> {
    const running = start(['worker', '--cluster', this.nats.url, '--creds', this.creds(member)], {
      env: {
        XDG_STATE_HOME: join(this.folder, '..', member),
        VENVS_BASE_PATH: join(this.folder, '..', member, 'environments'),
        POOL_SIZE: '1',
        ...env,
      },
    });
    this.#workers.push(running);
    await running.shows('stderr', 'The worker takes runs');
    return running;
  }

  backend(name = 'main', member = 'front-1'): Promise<ClusterBackend> {
    return ClusterBackend.connect({ url: this.nats.url, name, creds: this.creds(member) }, silentLogger);
  }

  /** A front end in this process, which hears so many workers. */
  async front(workers: number, config: GivenConfig = {}, member = 'front-1'): Promise<Pungi> {
    const backend = await this.backend('main', member);
    const settings = { audit: false, venvsBasePath: join(this.folder, '..', 'environments'), ...config };
    const pungi = Pungi.start(settings, silentLogger, 'server', backend);
    this.#fronts.push(pungi);
    await until(() => backend.workers.length >= workers, 'the front end hears all workers');
    return pungi;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#fronts.map((pungi) => pungi.close()));
    for (const { child } of this.#workers) child.kill('SIGKILL');
    await Promise.all(this.#workers.map(({ ended }) => ended));
    await Promise.all(this.#connections.map((connection) => connection.close()));
    await this.nats.stop();
  }
}
