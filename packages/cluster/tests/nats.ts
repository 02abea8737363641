import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { natsServer } from '../../../tests/support/nats-server.js';
import { lastingFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';

/** A real NATS server with JetStream, on a free port of loopback, with its storage in a temporary folder. */
export class Nats {
  readonly #folder = lastingFolder();
  #child: ChildProcess | undefined;
  #port = -1;

  /** `cluster`: a folder that `pungi cluster init` has written. `more`: arguments of the server. */
  private constructor(
    private readonly cluster: string | undefined,
    private readonly more: readonly string[],
  ) {}

  static async start(cluster?: string, more: readonly string[] = []): Promise<Nats> {
    const nats = new Nats(cluster, more);
    await nats.start();
    return nats;
  }

  get url(): string {
    return `${this.cluster === undefined ? 'nats' : 'tls'}://127.0.0.1:${this.#port}`;
  }

  /** Starts it, again on the same port. */
  async start(): Promise<void> {
    const ports = join(this.#folder, 'ports');
    rmSync(ports, { recursive: true, force: true });
    mkdirSync(ports);
    const own =
      this.cluster === undefined ? ['-js', '-sd', join(this.#folder, 'store')] : ['-c', 'nats.conf'];
    const listening = ['-a', '127.0.0.1', '-p', `${this.#port}`, '--ports_file_dir', ports];
    const cwd = this.cluster ?? this.#folder;
    const args = [...own, ...listening, ...this.more];
    this.#child = spawn(await natsServer(), args, { stdio: 'ignore', cwd });
    const file = await until(
      () =>
        readdirSync(ports)
          .map((name) => join(ports, name))
          .find(existsSync),
      'the NATS server has a port',
    );
    const text = await until(() => readFileSync(file, 'utf8'), 'the NATS server names its port');
    const [address] = (JSON.parse(text) as { nats: string[] }).nats;
    this.#port = Number(new URL(address!).port);
  }

  /** Reads its configuration again. */
  reload(): void {
    this.signal('SIGHUP');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
