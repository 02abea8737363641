import { sha256 } from '../base/sha256.js';
import { isLarge, ownTurn } from '../base/turns.js';
import { CodeSummary } from '../contract/disclosure.js';
import { type FrameKind, packFrame, packFrames } from './frames.js';
import {
  type BranchPlace,
  type CopyOrder,
  type EndFacts,
  type Job,
  MAIN_BRANCH,
  type OutputSink,
  type RunEnd,
  type WorkerAbout,
} from './job.js';
import { MAX_ATTACHED, MAX_CALL_JSON, MOST_DISCOVERED, readCallReport, readReport } from './reports.js';
import { SourceSender } from './source-sender.js';

/** The worker cuts values and exceptions to less than this; anything larger comes from foreign code. */
const MAX_REPORT = 1024 * 1024;
const MAX_BYTECODE = 32 * 1024 * 1024;
/** The limit for the tools of a script, which may be thousands. */
export const MAX_DISCOVERED = 8 * 1024 * 1024;

/**
 * A supervisor gets this much time after the deadline to answer before its connection, and with it the run, is cut.
 */
const GRACE_MS = 2000;
/** A timer that fires this late means that the process was stopped or busy. */
const LATE_MS = 500;
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Running {
  job: Job;
  sink: OutputSink;
  reported: Pick<RunEnd, 'report' | 'attached'>;
  summary: CodeSummary | null;
  end: (end: RunEnd) => void;
}

const LOST: RunEnd = { facts: null, report: undefined, summary: null };

/** The connection to a supervisor. `close` is emitted after all received data was processed. */
export interface Channel {
  /** `written` is called when there is room for more, or nobody reads any more. */
  write(frame: Buffer, written?: () => void): unknown;
  destroy(): unknown;
  /** Stops reading until `resume`. Channels that cannot do that leave it out. */
  pause?(): unknown;
  resume?(): unknown;
  on(event: 'close', listener: () => void): unknown;
}

/** The server's end of a supervisor, which reports a parked worker, accepts a job for it, and parks the next one. */
export class Supervisor {
  about: WorkerAbout | undefined;
  /** Whether the parked worker was not warmed up, so that its run will be slower. */
  isCold = false;
  /** Whether a worker waits for a job. */
  isParked = false;
  /** Whether it holds a session: a worker that waits for its next job, or copies of one. */
  isKept = false;
  onParked: () => void = () => {};
  onLost: () => void = () => {};
  /** Called when it does not answer any more and must be ended. */
  onStuck: () => void = () => {};
  #aboutText: Buffer | undefined;
  #socket: Channel;
  #name: string;
  #runs = 0;
  /** Readers of output that are not done. */
  #slow = 0;
  #running: Running | undefined;
  readonly #deadline = new Deadline(() => {
    this.onStuck();
    this.#socket.destroy();
  });
  isLost = false;
  #onNext: (isParked: boolean) => void = () => {};

  constructor(socket: Channel, name: string) {
    this.#socket = socket;
    this.#name = name;
    socket.on('close', () => {
      this.isLost = true;
      this.isParked = false;
      this.isKept = false;
      this.#deadline.end();
      this.#onNext(false);
      this.#finish(null);
      this.onLost();
    });
  }

  /** Identifies the connections of the parked worker, or of its run, at the network's proxy. */
  get caller(): string {
    return `${this.#name}.${this.#runs}`;
  }

  /** Runs a job in the parked worker, or in the next one. `isHurried`: the machine is busy, so the next worker should be parked
   * with less care. Resolves when all of its processes have ended, or the supervisor is lost. */
  async run(
    job: Job,
    sink: OutputSink,
    signal?: AbortSignal,
    isHurried = false,
    branch: BranchPlace = { name: MAIN_BRANCH, jobs: 0 },
  ): Promise<RunEnd> {
    if (!this.isParked && !this.isKept && !(await this.#nextParked())) return LOST;
    const { code, stdin, argv, files, variables } = job;
    if (isLarge([code, stdin, argv, files, variables])) await ownTurn();
    this.isCold = isHurried;
    // JSON leaves out what is undefined.
    const sources = job.sources?.map(({ path }) => path);
    const liveStdin = job.live && true;
    // The spread is last: V8 takes a microsecond for each new property behind one.
    const limits = {
      reportBytes: mostReported(job),
      isHurried,
      isScoped: job.rules !== undefined,
      isKept: job.session === true,
      branch: branch.name,
      artifactBytes: job.artifactBytes || undefined,
      inputs: inputsOf(job, branch.jobs),
      sources,
      liveStdin,
      ...job.limits,
    };
    const order = sources || liveStdin ? { ...job, sources, live: undefined, liveStdin } : job;
    return this.#exchange(job, limits, ['job', order], sink, signal);
  }

  /** Copies a branch of a session that waits for its next job. `job`: with the limits of the session. */
  async copy(order: CopyOrder, { name }: BranchPlace, job: Job, signal?: AbortSignal): Promise<RunEnd> {
    const limits = {
      ...job.limits,
      reportBytes: MAX_REPORT,
      isHurried: false,
      isScoped: false,
      isKept: true,
    };
    return this.#exchange(job, limits, ['copy', { ...order, branch: name }], () => {}, signal);
  }

  /** Ends copies and branches of a session, and removes their files. */
  dropCopies(copies: readonly string[]): void {
    if (!this.isLost) this.#socket.write(packFrame('copy', JSON.stringify({ action: 'drop', copies })));
  }

  async #exchange(
    job: Job,
    limits: object,
    [kind, order]: ['job' | 'copy', object],
    sink: OutputSink,
    signal?: AbortSignal,
  ): Promise<RunEnd> {
    if (this.isLost) return LOST;
    const message = packFrames([
      ['limits', JSON.stringify(limits)],
      [kind, JSON.stringify(order)],
    ]);
    const ended = new Promise<RunEnd>((end) => {
      this.#running = { job, sink, reported: { report: undefined }, summary: null, end };
    });
    this.isParked = false;
    this.isKept = false;
    const { sources = [], live } = job;
    live?.begin();
    this.#socket.write(message);
    const cancel = () => this.#socket.write(packFrame('cancel'));
    const waitMs = Math.min(job.limits.timeoutMs + GRACE_MS, LONGEST_TIMER_MS);
    this.#deadline.start(waitMs);
    const sending = new SourceSender(this.#socket, sources);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await ended;
    } finally {
      // The supervisor takes no further job behind input that it did not get.
      if (!sending.isDone || live) this.#socket.destroy();
      sending.stop();
      this.#deadline.stop();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Resolves to whether another worker was parked before the supervisor was lost. */
  #nextParked(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.isLost) resolve(false);
      else this.#onNext = resolve;
    });
  }

  /** Called with each frame by the connection's parser. */
  receive(kind: FrameKind, payload: Buffer): void {
    const running = this.#running;
    if (kind === 'parked') {
      this.#learnAbout(payload);
      this.isParked = true;
      this.#onNext(true);
      this.onParked();
    } else if (kind === 'failed') this.#socket.destroy();
    else if (!running) return;
    else if (kind === 'stdout' || kind === 'stderr' || kind === 'display' || kind === 'file')
      this.#waitFor(running.sink(kind, payload));
    else if (kind === 'wanted') void this.#feed(running);
    else if (kind === 'summary') this.#take(running, payload);
    else if (kind === 'report') running.reported = read(running.job, payload);
    else if (kind === 'end') this.#finish(JSON.parse(payload.toString()) as EndFacts);
  }

  /** Whether output waits for its reader. */
  get isHeld(): boolean {
    return this.#slow > 0;
  }

  #waitFor(reader: unknown): void {
    if (!(reader instanceof Promise)) return;
    this.#socket.pause?.();
    this.#slow += 1;
    void reader.finally(() => {
      this.#slow -= 1;
      if (this.#slow === 0) this.#socket.resume?.();
    });
  }

  /** Every worker of an interpreter says the same. */
  #learnAbout(payload: Buffer): void {
    if (this.#aboutText?.equals(payload)) return;
    this.#aboutText = Buffer.from(payload);
    this.about = JSON.parse(payload.toString()) as WorkerAbout;
  }

  /** Warms up a worker that was parked in a hurry; it is parked again afterwards. */
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
    const holdsSession = facts?.isKept === true || (facts?.copies ?? []).length > 0;
    this.isKept = holdsSession && !this.isLost;
    if (running && !this.isKept) this.#runs += 1;
    if (!running) return;
    const { reported, summary } = running;
    const known = facts?.isKept ? { ...facts, status: statusIn(reported.report) } : facts;
    running.end({ facts: known, summary, ...reported });
  }

  /** Sends the next piece of standard input; an empty one is its end. */
  async #feed(running: Running): Promise<void> {
    const piece = await running.job.live?.next();
    if (this.#running === running) this.#socket.write(packFrame('stdin', piece ?? ''));
  }

  /** Only the first summary counts: foreign code could not send it. */
  #take(running: Running, payload: Buffer): void {
    if (running.job.summarize !== true || running.summary !== null) return;
    running.summary = CodeSummary.safeParse(readReport(payload)).data ?? null;
  }
}

/** What the supervisor needs to find the files that a run made or changed. The script itself is none of them. */
function inputsOf({ artifactBytes = 0, files, filename }: Job, before: number): object | undefined {
  if (artifactBytes === 0) return undefined;
  // The worker of a session numbers its scripts (session.py).
  const script = before === 0 ? filename : filename.replace(/(\.[^.]*)?$/, `_${before + 1}$1`);
  if (files.length === 0) return { [script]: null };
  const given = files.map(({ path, base64 }) => {
    const content = Buffer.from(base64, 'base64');
    return [path, [content.length, sha256(content)]];
  });
  return Object.fromEntries([...given, [script, null]]);
}

/** The exit status that the worker of a session reports for its job. */
function statusIn(report: unknown): number {
  const { status } = (report ?? {}) as { status?: unknown };
  return Number.isInteger(status) ? (status as number) & 0xff : 1;
}

/**
 * Calls after a time in which this process could receive: if it was stopped or busy, an answer may have arrived
 * already, and is read first. One timer serves all runs of a supervisor, because a new one for each takes longer.
 */
class Deadline {
  #timer: NodeJS.Timeout | undefined;
  #ms = 0;
  #due: number | undefined;

  constructor(private readonly call: () => void) {}

  start(ms: number): void {
    this.#due = performance.now() + ms;
    if (this.#timer !== undefined && ms === this.#ms) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#fire(), ms).unref();
  }

  stop(): void {
    this.#due = undefined;
  }

  end(): void {
    this.stop();
    clearTimeout(this.#timer);
  }

  #fire(): void {
    if (this.#due === undefined) return;
    if (performance.now() - this.#due < LATE_MS) this.call();
    else this.start(GRACE_MS);
  }
}

function mostReported({ task, call, inspect }: Job): number {
  if (task === 'compile') return MAX_BYTECODE;
  if (task === 'discover' || inspect) return MAX_DISCOVERED;
  return call === undefined ? MAX_REPORT : MAX_CALL_JSON + MAX_ATTACHED;
}

function read({ task, call, inspect }: Job, payload: Buffer): Pick<RunEnd, 'report' | 'attached'> {
  if (task === 'discover' || inspect) return { report: readReport(payload, MOST_DISCOVERED) };
  return call === undefined ? { report: readReport(payload) } : readCallReport(payload);
}
