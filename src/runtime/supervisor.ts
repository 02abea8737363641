import type { Socket } from 'node:net';
import type { Limits } from '../contract/limits.js';
import type { ScopeRules } from '../contract/profile.js';
import { type FrameKind, packFrame } from './frames.js';

/** What is said of a worker when it is parked. */
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
  /** What the code sees as variables, by name. */
  variables: Record<string, unknown>;
  /** "module" or "module as name": what the code need not import. */
  imports?: readonly string[];
  /** The scope that the code must stay in; none: anything goes that the sandbox allows. */
  rules?: ScopeRules;
  /** Folders of the profile, which appear as data/NAME in the work folder. */
  data?: readonly { name: string; path: string }[];
  /** Tell what the code does, before it is run. */
  summarize?: boolean;
  bytecode?: string;
  /** Only look at the code: compile it, or tell what it imports. */
  task?: 'compile' | 'imports';
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
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Running {
  sink: OutputSink;
  report: unknown;
  end: (end: RunEnd) => void;
}

/** The server's end of a supervisor: it says when a worker is parked, takes a job for it, and parks the next one. */
export class Supervisor {
  about: WorkerAbout | undefined;
  onParked: () => void = () => {};
  /** A run has ended; told at once, since the next worker may be parked in the same breath. */
  onEnded: () => void = () => {};
  onLost: () => void = () => {};
  /** It does not answer any more: whoever started it must end it. */
  onStuck: () => void = () => {};
  #socket: Socket;
  #running: Running | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('close', () => {
      this.#finish(null);
      this.onLost();
    });
  }

  /** Runs a job in the parked worker. `isHurried`: others wait, so the next worker should be parked with less care.
   * Resolves when all of its processes have ended, or the supervisor is lost. */
  async run(job: Job, sink: OutputSink, signal?: AbortSignal, isHurried = false): Promise<RunEnd> {
    const ended = new Promise<RunEnd>((end) => {
      this.#running = { sink, report: undefined, end };
    });
    const cancel = () => this.#socket.write(packFrame('cancel'));
    const patience = Math.min(job.limits.timeoutMs + GRACE_MS, LONGEST_TIMER_MS);
    const lastResort = setTimeout(() => {
      this.onStuck();
      this.#socket.destroy();
    }, patience);
    const limits = {
      ...job.limits,
      reportBytes: job.task === 'compile' ? MAX_BYTECODE : MAX_REPORT,
      isHurried,
    };
    this.#socket.cork();
    this.#socket.write(packFrame('limits', JSON.stringify(limits)));
    this.#socket.write(packFrame('job', JSON.stringify(job)));
    this.#socket.uncork();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await ended;
    } finally {
      clearTimeout(lastResort);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** A frame, handed over by the connection's parser. */
  receive(kind: FrameKind, payload: Buffer): void {
    const running = this.#running;
    if (kind === 'parked') {
      this.about = JSON.parse(payload.toString()) as WorkerAbout;
      this.onParked();
    } else if (kind === 'failed') this.#socket.destroy();
    else if (!running) return;
    else if (kind === 'stdout' || kind === 'stderr') running.sink(kind, payload);
    else if (kind === 'report') running.report = parseReport(payload);
    else if (kind === 'end') {
      this.#finish(JSON.parse(payload.toString()) as EndFacts);
      this.onEnded();
    }
  }

  discard(): void {
    this.#socket.destroy();
  }

  #finish(facts: EndFacts | null): void {
    const running = this.#running;
    this.#running = undefined;
    running?.end({ facts, report: running.report });
  }
}

function parseReport(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined; // foreign code wrote to the channel
  }
}
