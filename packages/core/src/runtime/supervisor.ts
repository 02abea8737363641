import { CodeSummary } from '../contract/disclosure.js';
import type { Limits } from '../contract/limits.js';
import type { ScopeRules } from '../contract/profile.js';
import type { FunctionCall } from '../contract/run.js';
import { type FrameKind, packFrame } from './frames.js';
import { MAX_ATTACHED, MAX_CALL_WORDS, MOST_DISCOVERED, readCallReport, readReport } from './reports.js';

/** What is said of a worker when it is parked. */
export interface WorkerAbout {
  features: string[];
  python: string;
  magic: string;
  cgroup: AboutCgroup;
}

/** The cgroups that runs have, or why they have none. */
export type AboutCgroup = { version: 'v1' | 'v2'; totalMb: number } | { version: null; reason: string };

/** How a run's processes ended and what they used: the supervisor's word, which foreign code cannot reach. */
export interface EndFacts {
  killedFor:
    | 'timeout'
    | 'cpu'
    | 'memory'
    | 'total-memory'
    | 'processes'
    | 'disk'
    | 'output'
    | 'cancelled'
    | 'scope'
    | null;
  /** What the kernel kept for the run that was too much, where it was no memory of a process. */
  held?: string | null;
  /** Whether the run's disk was full, or almost, when the run failed. */
  diskFull?: boolean;
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
  /** The function to call, once the code has been run as a module. */
  call?: FunctionCall;
  /** "module" or "module as name": what the code need not import. */
  imports?: readonly string[];
  /** The scope that the code must stay in; none: anything goes that the sandbox allows. */
  rules?: ScopeRules;
  /** Tell what the code does, before it is run. */
  summarize?: boolean;
  bytecode?: string;
  /** Only look at the code: compile it, tell what it imports, hold it against the rules, or find its tools. */
  task?: 'compile' | 'imports' | 'check' | 'discover';
}

export interface RunEnd {
  /** null: the supervisor was lost before it could say. */
  facts: EndFacts | null;
  /** What the worker said of its own run. Never trusted for more than its words. */
  report: unknown;
  /** Of a call, the bytes that its report tells the sizes of. */
  attached?: Buffer;
  /** What the code does, told before it was run; null where nobody asked. */
  summary: CodeSummary | null;
}

export type OutputSink = (stream: 'stdout' | 'stderr', data: Buffer) => void;

/** A value and an exception are cut to less than this by the worker; more is foreign code's own doing. */
const MAX_REPORT = 1024 * 1024;
const MAX_BYTECODE = 32 * 1024 * 1024;
/** Of the tools of a script, which may be thousands. */
const MAX_DISCOVERED = 8 * 1024 * 1024;

/** A supervisor is given this long past the deadline to answer before its connection, and with it the run, is cut. */
const GRACE_MS = 2000;
/** A timer that fires later than this tells of a process that was stopped or busy. */
const LATE_MS = 500;
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Running {
  job: Job;
  sink: OutputSink;
  told: Pick<RunEnd, 'report' | 'attached'>;
  summary: CodeSummary | null;
  end: (end: RunEnd) => void;
}

const LOST: RunEnd = { facts: null, report: undefined, summary: null };

/** The way to a supervisor. `close` is emitted once all that it sent has been received. */
export interface Channel {
  write(frame: Buffer): unknown;
  cork(): void;
  uncork(): void;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
}

/** The server's end of a supervisor: it says when a worker is parked, takes a job for it, and parks the next one. */
export class Supervisor {
  about: WorkerAbout | undefined;
  /** Whether the parked worker was parked in a hurry: its run will be slower. */
  isCold = false;
  /** Whether a worker waits for a job. */
  isParked = false;
  onParked: () => void = () => {};
  onLost: () => void = () => {};
  /** It does not answer any more: whoever started it must end it. */
  onStuck: () => void = () => {};
  #socket: Channel;
  #name: string;
  #runs = 0;
  #running: Running | undefined;
  #isLost = false;
  #onNext: (isParked: boolean) => void = () => {};

  constructor(socket: Channel, name: string) {
    this.#socket = socket;
    this.#name = name;
    socket.on('close', () => {
      this.#isLost = true;
      this.isParked = false;
      this.#onNext(false);
      this.#finish(null);
      this.onLost();
    });
  }

  /** What the connections of the parked worker, or of its run, are known by at the network's proxy. */
  get caller(): string {
    return `${this.#name}.${this.#runs}`;
  }

  /** Runs a job in the parked worker, or in the next one. `isHurried`: the machine is busy, so the next worker should be parked
   * with less care. Resolves when all of its processes have ended, or the supervisor is lost. */
  async run(job: Job, sink: OutputSink, signal?: AbortSignal, isHurried = false): Promise<RunEnd> {
    if (!this.isParked && !(await this.#nextParked())) return LOST;
    const ended = new Promise<RunEnd>((end) => {
      this.#running = { job, sink, told: { report: undefined }, summary: null, end };
    });
    const cancel = () => this.#socket.write(packFrame('cancel'));
    const patience = Math.min(job.limits.timeoutMs + GRACE_MS, LONGEST_TIMER_MS);
    const stopWaiting = afterListening(patience, () => {
      this.onStuck();
      this.#socket.destroy();
    });
    this.isCold = isHurried;
    this.isParked = false;
    const limits = {
      ...job.limits,
      reportBytes: mostReported(job),
      isHurried,
      isScoped: job.rules !== undefined,
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
      stopWaiting();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Whether another worker was parked before the supervisor was lost. */
  #nextParked(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#isLost) resolve(false);
      else this.#onNext = resolve;
    });
  }

  /** A frame, handed over by the connection's parser. */
  receive(kind: FrameKind, payload: Buffer): void {
    const running = this.#running;
    if (kind === 'parked') {
      this.about = JSON.parse(payload.toString()) as WorkerAbout;
      this.isParked = true;
      this.#onNext(true);
      this.onParked();
    } else if (kind === 'failed') this.#socket.destroy();
    else if (!running) return;
    else if (kind === 'stdout' || kind === 'stderr') running.sink(kind, payload);
    else if (kind === 'summary') this.#take(running, payload);
    else if (kind === 'report') running.told = read(running.job, payload);
    else if (kind === 'end') this.#finish(JSON.parse(payload.toString()) as EndFacts);
  }

  /** Makes up for the hurry that the worker was parked in; it is parked anew afterwards. */
  warmUp(): void {
    this.isCold = false;
    this.isParked = false;
    this.#socket.write(packFrame('warmUp'));
  }

  discard(): void {
    this.#socket.destroy();
  }

  #finish(facts: EndFacts | null): void {
    const running = this.#running;
    this.#running = undefined;
    if (running) this.#runs += 1;
    running?.end({ facts, ...running.told, summary: running.summary });
  }

  /** The first one was said before foreign code could say one. */
  #take(running: Running, payload: Buffer): void {
    if (running.job.summarize !== true || running.summary !== null) return;
    running.summary = CodeSummary.safeParse(readReport(payload)).data ?? null;
  }
}

/**
 * Calls after a time in which this process could listen: where it was stopped or busy, the answer may be there already, and
 * is read first. Returns a function that gives up the wait.
 */
function afterListening(ms: number, call: () => void): () => void {
  const due = performance.now() + ms;
  const timer = setTimeout(() => {
    if (performance.now() - due < LATE_MS) call();
    else stop = afterListening(GRACE_MS, call);
  }, ms);
  let stop = () => clearTimeout(timer);
  return () => stop();
}

function mostReported({ task, call }: Job): number {
  if (task === 'compile') return MAX_BYTECODE;
  if (task === 'discover') return MAX_DISCOVERED;
  return call === undefined ? MAX_REPORT : MAX_CALL_WORDS + MAX_ATTACHED;
}

function read({ task, call }: Job, payload: Buffer): Pick<RunEnd, 'report' | 'attached'> {
  if (task === 'discover') return { report: readReport(payload, MOST_DISCOVERED) };
  return call === undefined ? { report: readReport(payload) } : readCallReport(payload);
}
