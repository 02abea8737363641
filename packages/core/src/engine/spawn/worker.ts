import { mkdtemp, open, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from '../../base/logger.js';
import { FrameParser } from '../../runtime/frames.js';
import type { Job, OutputSink } from '../../runtime/job.js';
import type { LiveInput } from '../../runtime/live-input.js';
import type { Source } from '../../runtime/source-sender.js';
import { type Channel, Supervisor } from '../../runtime/supervisor.js';
import { killChild, type SpawnSettings, spawnSupervisor, whyNotStarted } from '../../sandbox/spawn.js';
import type { Worker } from '../backend.js';

/** An interpreter starts in a tenth of a second; after this time it counts as failed. */
const START_TIMEOUT_MS = 30_000;
/** The supervisor kills everything below it before it ends. */
const END_TIMEOUT_MS = 5000;

type ChildProcess = ReturnType<typeof spawnSupervisor>;

/** One interpreter and its supervisor, for one run. */
export class SpawnedWorker implements Worker {
  /** Resolves when both processes have ended. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #supervisor: Supervisor;
  #onReady = () => {};
  #onFailed = (_reason: Error) => {};

  private constructor(python: string, settings: SpawnSettings, logger: Logger) {
    this.#child = spawnSupervisor(python, settings);
    this.#supervisor = new Supervisor(channelOf(this.#child), '');
    this.#supervisor.onParked = () => this.#onReady();
    this.#supervisor.onStuck = () => killChild(this.#child);
    const parser = new FrameParser((kind, payload) => {
      if (kind === 'failed') this.#onFailed(new Error(payload.toString()));
      this.#supervisor.receive(kind, payload);
    });
    const { stdin, stdout, stderr } = this.#child;
    stdout?.on('data', (chunk: Buffer) => parser.feed(chunk));
    if (stderr) createInterface({ input: stderr }).on('line', (line) => logger.debug('Supervisor', { line }));
    // An idle worker does not keep Node running; waiting callers do (keep-alive.ts).
    this.#child.unref();
    for (const stream of [stdin, stdout, stderr]) (stream as Socket | null)?.unref();
    this.gone = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#onFailed(new Error(whyNotStarted(python, error)));
        resolve();
      });
      this.#child.on('close', () => {
        this.#onFailed(new Error('the supervisor ended before its interpreter was ready'));
        resolve();
      });
    });
  }

  /** Resolves when the interpreter waits for a job; rejects with the reason otherwise. */
  static async start(
    python: string,
    settings: SpawnSettings,
    logger: Logger,
    signal: AbortSignal,
  ): Promise<SpawnedWorker> {
    const worker = new SpawnedWorker(python, settings, logger);
    const giveUp = () => worker.#onFailed(signal.reason);
    const late = new Error(`the interpreter ${python} was not ready in time`);
    const timer = setTimeout(() => worker.#onFailed(late), START_TIMEOUT_MS);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        worker.#onReady = resolve;
        worker.#onFailed = reject;
        if (signal.aborted) giveUp();
      });
      return worker;
    } catch (error) {
      worker.release();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  get about() {
    return this.#supervisor.about!;
  }

  readonly isKept = false;

  async run({ live, ...job }: Job, _runId: string, sink: OutputSink, signal: AbortSignal) {
    if (live === undefined) return this.#supervisor.run(job, sink, signal);
    // This tier has no input while a run goes on.
    const folder = await mkdtemp(join(tmpdir(), 'pungi-stdin-'));
    try {
      const source = await spool(live, join(folder, 'stdin'), signal);
      return await this.#supervisor.run({ ...job, sources: [...(job.sources ?? []), source] }, sink, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Closing its input ends the supervisor and everything below it. */
  release(): void {
    this.#supervisor.discard();
    const timer = setTimeout(() => killChild(this.#child), END_TIMEOUT_MS).unref();
    void this.gone.then(() => clearTimeout(timer));
  }
}

async function spool(live: LiveInput, from: string, signal: AbortSignal): Promise<Source> {
  live.begin();
  const file = await open(from, 'wx', 0o600);
  let size = 0;
  try {
    for (let piece = await live.next(); piece !== null && !signal.aborted; piece = await live.next()) {
      await file.write(piece);
      size += piece.length;
    }
  } finally {
    await file.close();
  }
  return { path: null, from, size };
}

const channelOf = (child: ChildProcess): Channel => ({
  write: (frame, written) => child.stdin?.write(frame, written),
  destroy: () => child.stdin?.destroy(),
  on: (event, listener) => child.on(event, listener),
});
