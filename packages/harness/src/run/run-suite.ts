import { setMaxListeners } from 'node:events';
import { dirname } from 'node:path';
import type { SuiteReport, TestResult } from '@pungi/core/contract';
import { type SnapshotMode, Snapshots } from '../judge/snapshots.js';
import type { LoadedSpecification } from '../spec/load.js';
import type { Validators } from '../validate/runner.js';
import { connectServer, StartFault, startProblem } from './connect.js';
import type { Connection } from './connection.js';
import { runTest, skippedTest } from './run-test.js';
import { runAll } from './schedule.js';
import { runCheck, serverChecks } from './server-checks.js';
import { ServerFault } from './server-fault.js';
import type { Environment } from './start-server.js';
import { runSteps } from './steps.js';
import { blankResult, Servers, type Suite, scopeFor } from './suite.js';

/** Receives tests as they run; the terminal reporter implements it. */
interface RunEvents {
  testStarted(id: string): void;
  testEnded(result: TestResult, file?: string): void;
}

export interface RunOptions {
  /** The source of ${env:NAME}, and of what servers inherit. */
  environment: Environment;
  /** For this suite only: it keeps session variables of scripts. */
  validators?: Validators | undefined;
  /** An interpreter, for sandboxed servers. */
  python?: (() => Promise<string>) | undefined;
  events?: RunEvents | undefined;
  /** Aborts the run: running tests are cancelled, the rest is skipped, the server is stopped. */
  signal?: AbortSignal | undefined;
  snapshots?: SnapshotMode | undefined;
  /** All tests of the specification run: unused snapshots may be removed. */
  isWhole?: boolean | undefined;
  /** These override test_config. */
  timeoutMs?: number | undefined;
  maxConcurrency?: number | undefined;
  failFast?: boolean | undefined;
}

/** The number of results, as far as it is known in advance. */
export const countPlanned = ({ specification, tests }: LoadedSpecification): number =>
  tests.length + serverChecks(specification).length;

/** Runs the tests of a specification against its server. It always returns a report. */
export async function runSuite(loaded: LoadedSpecification, options: RunOptions): Promise<SuiteReport> {
  return new SuiteRun(loaded, options).run();
}

/** The time limit of a call after an abort. */
const LAST_CALLS_MS = 3000;

interface Violation {
  name: string;
  connection: Connection;
  fault: ServerFault;
}

class SuiteRun {
  readonly #loaded: LoadedSpecification;
  readonly #options: RunOptions;
  readonly #suite: Suite;
  /** Violations apart from answers, each reported once. */
  readonly #violations: Violation[] = [];
  #server: SuiteReport['server'] = null;
  #startMs: number | undefined;
  /** The problem of a failed cleanup. */
  #leftBehind: string | undefined;

  constructor(loaded: LoadedSpecification, options: RunOptions) {
    this.#loaded = loaded;
    this.#options = options;
    const { specification, file } = loaded;
    const { test_config: config } = specification;
    const signal = options.signal ?? new AbortController().signal;
    // Every pending call adds a listener.
    setMaxListeners(0, signal);
    this.#suite = {
      specification,
      environment: options.environment,
      servers: new Servers({
        start: () => this.#start(),
        isFresh: config.fresh_server,
        beforeClose: (connection) => this.#cleanUp(connection),
        onClosed: (connection, fault) => this.#closed(connection, fault),
      }),
      validators: options.validators,
      snapshots: new Snapshots(file, options.snapshots ?? 'create'),
      signal,
      timeoutMs: options.timeoutMs ?? config.timeout_seconds * 1000,
      captured: {},
      earlier: {},
    };
  }

  async run(): Promise<SuiteReport> {
    const startedAt = new Date().toISOString();
    const begun = performance.now();
    const suite = this.#suite;
    const results: TestResult[] = [];
    try {
      results.push(...(await this.#checks()));
      results.push(...(await this.#tests()));
    } finally {
      await suite.servers.closeAll();
    }
    results.push(...this.#violations.map((one) => this.#misdeedResult(one)));
    const snapshotProblem = this.#saveSnapshots();
    const problem = suite.problem ?? this.#leftBehind ?? snapshotProblem;
    return {
      file: this.#loaded.file,
      name: suite.specification.name,
      server: this.#server,
      ...(this.#startMs === undefined ? {} : { serverStartMs: this.#startMs }),
      startedAt,
      durationMs: performance.now() - begun,
      ...(problem === undefined ? {} : { problem }),
      results,
    };
  }

  async #start(): Promise<Connection> {
    const suite = this.#suite;
    const { specification, environment, signal } = suite;
    if (suite.problem !== undefined) throw new ServerFault('server', suite.problem);
    const folder = dirname(this.#loaded.file);
    const { python } = this.#options;
    const begun = performance.now();
    const connection = await connectServer(specification.server!, { environment, folder, python, signal });
    this.#startMs ??= performance.now() - begun;
    this.#server ??= connection.server;
    const { captured, failures } = await runSteps(connection, specification.setup, {
      what: 'Setup',
      timeoutMs: suite.timeoutMs,
      signal,
      scope: (before) => scopeFor(suite, {}, before),
    });
    const [failure] = failures;
    if (failure !== undefined) {
      const stderr = connection.stderrSince(0);
      await connection.close();
      throw new StartFault(new ServerFault('server', failure.message), stderr);
    }
    Object.assign(suite.captured, captured);
    return connection;
  }

  #closed(connection: Connection, fault: ServerFault | undefined): void {
    if (fault !== undefined) this.#violations.push({ name: 'ends when asked', connection, fault });
    const odd = connection.traffic.oddities();
    if (odd.length === 0) return;
    this.#violations.push({
      name: 'follows the protocol',
      connection,
      fault: new ServerFault('protocol', odd.join('\n')),
    });
  }

  async #checks(): Promise<TestResult[]> {
    const checks = serverChecks(this.#suite.specification);
    if (checks.length === 0) return [];
    const skip = (reason: string) =>
      checks.map(({ id, target, name }) =>
        this.#report({ ...blankResult({ id, kind: 'server', target, name }, 'skipped'), reason }),
      );
    try {
      const lease = await this.#suite.servers.take();
      const results: TestResult[] = [];
      for (const check of checks) {
        this.#options.events?.testStarted(check.id);
        results.push(this.#report(await runCheck(check, lease.connection, this.#suite.timeoutMs)));
      }
      await lease.release();
      return results;
    } catch (error) {
      if (!this.#suite.signal.aborted) this.#suite.problem ??= startProblem(error);
      return skip('there was no server to test');
    }
  }

  #tests(): Promise<TestResult[]> {
    const suite = this.#suite;
    const { max_concurrency, fail_fast } = suite.specification.test_config;
    return runAll(this.#loaded.tests, {
      maxConcurrency: this.#options.maxConcurrency ?? max_concurrency,
      failFast: this.#options.failFast ?? fail_fast,
      stopped: () => {
        if (suite.signal.aborted) return 'the run was aborted';
        return suite.problem === undefined ? undefined : 'there was no server to test';
      },
      run: async (test) => {
        this.#options.events?.testStarted(test.id);
        return this.#report(await runTest(suite, test));
      },
      skip: (test, reason) => this.#report(skippedTest(test, reason)),
    });
  }

  /** Runs also after an abort: what the setup created is removed while there is still a server. */
  async #cleanUp(connection: Connection): Promise<void> {
    const suite = this.#suite;
    const { failures } = await runSteps(connection, suite.specification.cleanup, {
      what: 'Cleanup',
      timeoutMs: suite.signal.aborted ? Math.min(suite.timeoutMs, LAST_CALLS_MS) : suite.timeoutMs,
      signal: new AbortController().signal,
      scope: (before) => scopeFor(suite, {}, before),
      isPersistent: true,
    });
    if (failures.length > 0) this.#leftBehind ??= failures.map(({ message }) => message).join('\n');
  }

  #misdeedResult({ name, connection, fault }: Violation): TestResult {
    const same = this.#violations.filter((one) => one.name === name);
    const place = same.findIndex((one) => one.connection === connection);
    const id = `server/process/${name}${place === 0 ? '' : ` #${place + 1}`}`;
    const blank = blankResult({ id, kind: 'server', target: 'process', name }, 'failed');
    const stderr = connection.stderrSince(0);
    const failures = fault.message.split('\n').map((message) => ({ kind: fault.kind, message }));
    return this.#report({
      ...blank,
      attempts: 1,
      failures,
      ...(stderr === '' ? {} : { serverStderr: stderr }),
    });
  }

  #saveSnapshots(): string | undefined {
    try {
      this.#suite.snapshots.save({ isWhole: this.#options.isWhole ?? false });
      return undefined;
    } catch (error) {
      return `Could not write the snapshots: ${(error as Error).message}`;
    }
  }

  #report(result: TestResult): TestResult {
    this.#options.events?.testEnded(result, this.#loaded.file);
    return result;
  }
}
