import type { TestResult, TestSpecification } from '@pungi/core/contract';
import type { JsonMap } from '../judge/answer.js';
import type { Snapshots } from '../judge/snapshots.js';
import type { PlannedTest } from '../spec/plan.js';
import type { Scope } from '../spec/substitute.js';
import type { Validators } from '../validate/runner.js';
import type { Connection } from './connection.js';
import type { ServerFault } from './server-fault.js';
import type { Environment } from './start-server.js';

/** What the tests of one specification share. */
export interface Suite {
  specification: TestSpecification;
  environment: Environment;
  servers: Servers;
  validators: Validators | undefined;
  snapshots: Snapshots;
  /** Aborted when the run is aborted. */
  signal: AbortSignal;
  timeoutMs: number;
  /** Values captured for later tests. */
  captured: JsonMap;
  /** Earlier results, for validation scripts. */
  earlier: Record<string, { status: string; response: unknown }>;
  /** Set once, when no server is available. */
  problem?: string;
}

export const scopeFor = (
  { specification, environment, captured }: Suite,
  { row, test }: Partial<Pick<PlannedTest, 'row' | 'test'>> = {},
  nearer: JsonMap = {},
): Scope => ({
  variables: [row ?? {}, test?.variables ?? {}, specification.variables],
  captured: { ...captured, ...nearer },
  environment,
});

/** A result without findings. */
export const blankResult = (
  {
    id,
    kind,
    target,
    name,
    description,
    tags,
  }: Pick<TestResult, 'id' | 'kind' | 'target' | 'name'> & {
    description?: string | undefined;
    tags?: string[];
  },
  status: TestResult['status'],
): TestResult => ({
  id,
  kind,
  target,
  name,
  ...(description === undefined ? {} : { description }),
  tags: tags ?? [],
  status,
  durationMs: 0,
  attempts: 0,
  failures: [],
  advisories: [],
  logs: [],
});

/** The time limit for a server to answer after a timeout. */
const PING_TIMEOUT_MS = 5000;

interface Held {
  connection: Connection;
  users: number;
  isDoubtful: boolean;
  isRetired: boolean;
}

/** A connection that a test uses. */
export interface Lease {
  connection: Connection;
  /** Called after a call that was not answered in time. */
  doubt: () => void;
  release: () => Promise<void>;
}

/** The servers of a suite: one for all tests, as long as it answers; or one per test. */
export class Servers {
  readonly #start: () => Promise<Connection>;
  readonly #isFresh: boolean;
  readonly #beforeClose: (connection: Connection) => Promise<void>;
  readonly #onClosed: (connection: Connection, fault: ServerFault | undefined) => void;
  readonly #all = new Set<Held>();
  /** The run waits for these. */
  readonly #closings: Promise<void>[] = [];
  #current: Promise<Held> | undefined;

  constructor(options: {
    start: () => Promise<Connection>;
    isFresh: boolean;
    /** Called while the server can still be queried. */
    beforeClose: (connection: Connection) => Promise<void>;
    onClosed: (connection: Connection, fault: ServerFault | undefined) => void;
  }) {
    this.#start = options.start;
    this.#isFresh = options.isFresh;
    this.#beforeClose = options.beforeClose;
    this.#onClosed = options.onClosed;
  }

  /** Throws what starting throws. */
  async take(): Promise<Lease> {
    if (this.#isFresh) {
      const held = await this.#begin();
      held.isRetired = true;
      return this.#lease(held);
    }
    this.#current ??= this.#begin();
    const checked = this.#current;
    let held: Held;
    try {
      held = await checked;
    } catch (error) {
      if (this.#current === checked) this.#current = undefined;
      throw error;
    }
    if (await isFit(held)) return this.#lease(held);
    held.isRetired = true;
    if (this.#current === checked) this.#current = undefined;
    this.#closings.push(this.#closeUnused(held));
    return this.take();
  }

  async closeAll(): Promise<void> {
    this.#current = undefined;
    await Promise.all([...this.#closings, ...[...this.#all].map((held) => this.#close(held))]);
  }

  async #begin(): Promise<Held> {
    const held = { connection: await this.#start(), users: 0, isDoubtful: false, isRetired: false };
    this.#all.add(held);
    return held;
  }

  #lease(held: Held): Lease {
    held.users += 1;
    return {
      connection: held.connection,
      doubt: () => {
        held.isDoubtful = true;
      },
      release: async () => {
        held.users -= 1;
        await this.#closeUnused(held);
      },
    };
  }

  async #closeUnused(held: Held): Promise<void> {
    if (held.isRetired && held.users === 0) await this.#close(held);
  }

  async #close(held: Held): Promise<void> {
    if (!this.#all.delete(held)) return;
    if (held.connection.isUsable && !held.isDoubtful) await this.#beforeClose(held.connection);
    this.#onClosed(held.connection, await held.connection.close());
  }
}

async function isFit(held: Held): Promise<boolean> {
  if (!held.connection.isUsable) return false;
  if (!held.isDoubtful) return true;
  if (!(await held.connection.answersWithin(PING_TIMEOUT_MS))) return false;
  held.isDoubtful = false;
  return true;
}
