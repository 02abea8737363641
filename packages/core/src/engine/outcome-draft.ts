import { randomUUID } from 'node:crypto';
import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import { buildOutcome, type Isolation, type Outcome, type Usage, type Verdict } from '../contract/outcome.js';
import type { ArtifactContent, RunOptions } from '../contract/run.js';
import { failure } from '../contract/verdicts.js';
import type { Job, RunEnd } from '../runtime/job.js';
import { MAX_DISCOVERED } from '../runtime/supervisor.js';
import { readCallValue } from './call-report.js';
import { Displays } from './displays.js';
import { describeFiles, LeftFiles } from './left-files.js';
import type { HintContext } from './missing-module.js';
import { OutputBuffer } from './output.js';
import { type Shown, shownFiles } from './shown-files.js';
import { decideVerdict } from './verdict.js';
import { readValue, readValueNotes } from './worker-report.js';

interface Circumstances {
  wasStopped: boolean;
  tookMs: number;
}

const thousandths = (value: number) => Math.round(value * 1000) / 1000;

/** Collects the results of a run until it becomes an outcome. */
export class OutcomeDraft {
  readonly runId = randomUUID();
  readonly #codeSha256: string;
  readonly #streams: Record<'stdout' | 'stderr', OutputBuffer>;
  readonly #displays = new Displays();
  readonly #files = new LeftFiles();
  /** The files that the run left behind, once it has ended. */
  files: ArtifactContent[] = [];
  #isolation: Isolation = { tier: null, features: [] };
  #waitMs = 0;

  constructor(
    private readonly job: Job,
    private readonly where: HintContext,
    private readonly profile: string | null,
    private readonly listeners: Pick<RunOptions, 'onLine' | 'onOutput'>,
  ) {
    this.#codeSha256 = sha256(job.code);
    const { onLine } = listeners;
    const buffer = (stream: 'stdout' | 'stderr') =>
      new OutputBuffer(
        job.limits.outputBytes,
        onLine && ((text) => this.#notify(() => onLine({ stream, text }))),
      );
    this.#streams = { stdout: buffer('stdout'), stderr: buffer('stderr') };
  }

  /** A listener that throws does not affect the run. */
  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      queueMicrotask(() =>
        process.emitWarning(`A listener for output failed: ${PungiError.from(error).message}`),
      );
    }
  }

  began(isolation: Isolation, waitMs: number): void {
    this.#isolation = isolation;
    this.#waitMs = waitMs;
  }

  write(stream: 'stdout' | 'stderr' | 'display' | 'file', data: Buffer): void {
    if (stream === 'file') {
      this.#files.take(data);
      return;
    }
    const { stdout, stderr } = this.#streams;
    if (stream === 'display') {
      this.#displays.take(data, { stdout: stdout.bytes, stderr: stderr.bytes });
      return;
    }
    const { onOutput } = this.listeners;
    if (onOutput) this.#notify(() => onOutput(stream, data));
    this.#streams[stream].write(data);
  }

  end({ facts, lost, report, attached }: RunEnd, { wasStopped, tookMs }: Circumstances): Outcome {
    const isCancelled = wasStopped && lost?.started === false;
    if (lost && !isCancelled)
      return this.finish(failure('lost', { started: lost.started }, lost.message), { wallMs: tookMs });
    if (facts === null) return this.finish(this.#lost(wasStopped, tookMs), { wallMs: tookMs });
    const verdict = decideVerdict(facts, report, this.job, { tier: this.#isolation.tier, ...this.where });
    const usage = { wallMs: facts.wallMs, cpuMs: facts.cpuMs, peakMemoryMb: facts.peakBytes / 1024 / 1024 };
    if (verdict.kind !== 'ok') return this.finish(verdict, usage);
    if (this.job.call) return this.finish(verdict, usage, readCallValue(report, attached));
    const mostJson = this.job.inspect ? MAX_DISCOVERED : undefined;
    return this.finish(verdict, usage, readValue(report, mostJson), readValueNotes(report));
  }

  /** The supervisor ended without an answer. */
  #lost(wasStopped: boolean, tookMs: number): Verdict {
    if (wasStopped) return failure('cancelled', {});
    const { timeoutMs } = this.job.limits;
    if (tookMs >= timeoutMs) return failure('timed-out', { limitMs: timeoutMs });
    return failure('internal', {}, 'The sandbox of this run was lost; run it again.');
  }

  /** What was shown is left as files beside those of the script. Returns how many there was no room for. */
  #finishFiles(shown: readonly Shown[]): number {
    const { artifactBytes = 0 } = this.job;
    if (artifactBytes === 0) return 0;
    const { own, originals } = this.#files;
    const bytes = own.reduce((room, { content }) => room - content.length, artifactBytes);
    const taken = new Set(own.map(({ path }) => path));
    const { files, leftOut } = shownFiles(shown, originals, { bytes, taken });
    this.files = describeFiles([...own, ...files]);
    return leftOut;
  }

  finish(
    verdict: Verdict,
    used: Partial<Pick<Usage, 'wallMs' | 'cpuMs' | 'peakMemoryMb'>> = {},
    value: Outcome['value'] = null,
    notes: readonly string[] = [],
  ): Outcome {
    const { wallMs = 0, cpuMs = 0, peakMemoryMb = 0 } = used;
    const shown = this.#displays.finish((stream, bytes) => this.#streams[stream].placesOf(bytes));
    const leftOut = this.#finishFiles(shown);
    const displays = shown.map(({ originals: _, ...display }) => display);
    const allNotes = [...notes, ...this.#displays.notes, ...this.#files.notes(leftOut)];
    const artifacts = this.files.map(({ content: _, ...artifact }) => artifact);
    return buildOutcome({
      runId: this.runId,
      verdict,
      stdout: this.#streams.stdout.finish(),
      stderr: this.#streams.stderr.finish(),
      value,
      ...(displays.length > 0 && { displays }),
      ...(artifacts.length > 0 && { artifacts }),
      usage: {
        wallMs: thousandths(wallMs),
        cpuMs: thousandths(cpuMs),
        peakMemoryMb: thousandths(peakMemoryMb),
        waitMs: thousandths(this.#waitMs),
      },
      codeSha256: this.#codeSha256,
      isolation: this.#isolation,
      environment: this.where.environment,
      profile: this.profile,
      ...(allNotes.length > 0 && { notes: allNotes }),
    });
  }
}
