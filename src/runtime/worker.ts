import type { Socket } from 'node:net';
import type { Limits } from '../contract/limits.js';
import { type FrameKind, packFrame } from './frames.js';

/** What the supervisor of a worker says when it is parked. */
export interface WorkerAbout {
  features: string[];
  python: string;
  magic: string;
}

/** How a run's processes ended and what they used: the supervisor's word, which foreign code cannot reach. */
export interface EndFacts {
  killedFor: 'timeout' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'cancelled' | null;
  status: number | null;
  signal: number | null;
  wallMs: number;
  cpuMs: number;
  peakBytes: number;
}

export interface Job {
  code: string;
  filename: string;
  argv: string[];
  stdin: string;
  files: { path: string; base64: string }[];
  env: Record<string, string>;
  limits: Limits;
  context?: unknown;
  bytecode?: string;
  compile?: boolean;
}

export interface RunEnd {
  /** null: the supervisor was lost before it could say. */
  facts: EndFacts | null;
  /** What the worker said of its own run. Never trusted for more than its words. */
  report: unknown;
}

export type OutputSink = (stream: 'stdout' | 'stderr', data: Buffer) => void;

/** A value and an exception are cut to less than this by the worker; more is foreign code's own doing. */
const MAX_REPORT = 1024 * 1024;
const MAX_BYTECODE = 32 * 1024 * 1024;

/** A supervisor is given this long past the deadline to answer before its connection, and with it the run, is cut. */
const GRACE_MS = 2000;
/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One parked worker, at the other end of its supervisor's connection. Takes one job. */
export class Worker {
  #report: unknown;
  #facts: EndFacts | null = null;
  #sink: OutputSink = () => {};
  #ended: (end: RunEnd) => void = () => {};
  #onLost: () => void = () => {};

  constructor(
    private readonly socket: Socket,
    readonly about: WorkerAbout,
  ) {
    socket.on('close', () => {
      this.#onLost();
      this.#ended({ facts: this.#facts, report: this.#report });
    });
  }

  /** Called if the worker goes away while parked. */
  whenLost(onLost: () => void): void {
    this.#onLost = onLost;
  }

  async run(job: Job, sink: OutputSink, signal?: AbortSignal): Promise<RunEnd> {
    this.#onLost = () => {};
    this.#sink = sink;
    const ended = new Promise<RunEnd>((resolve) => {
      this.#ended = resolve;
    });
    const cancel = () => this.socket.write(packFrame('cancel'));
    const lastResort = setTimeout(
      () => this.socket.destroy(),
      Math.min(job.limits.timeoutMs + GRACE_MS, LONGEST_TIMER_MS),
    );
    const reportBytes = job.compile ? MAX_BYTECODE : MAX_REPORT;
    this.socket.write(
      Buffer.concat([
        packFrame('limits', JSON.stringify({ ...job.limits, reportBytes })),
        packFrame('job', JSON.stringify(job)),
      ]),
    );
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await ended;
    } finally {
      clearTimeout(lastResort);
      signal?.removeEventListener('abort', cancel);
      this.socket.destroy();
    }
  }

  /** Frames from the supervisor, handed over by the connection's parser. */
  receive(kind: FrameKind, payload: Buffer): void {
    if (kind === 'stdout' || kind === 'stderr') this.#sink(kind, payload);
    else if (kind === 'report') this.#report = parseReport(payload);
    else if (kind === 'end') {
      this.#facts = JSON.parse(payload.toString()) as EndFacts;
      this.#ended({ facts: this.#facts, report: this.#report });
    }
  }

  discard(): void {
    this.#onLost = () => {};
    this.socket.destroy();
  }
}

function parseReport(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined; // foreign code wrote to the channel
  }
}
