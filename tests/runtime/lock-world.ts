import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '../../src/base/logger.js';
import { LockKeeper, type LockMode } from '../../src/runtime/lock-keeper.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { SpeakingProcess } from '../support/speaking-process.js';
import { until } from '../support/until.js';

export const { path: python } = await findInterpreter();

/** A folder of locks and the processes that use them, all of which end with it. */
export class LockWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'pungi-locks-'));
  readonly lock = join(this.folder, 'environment');
  #keepers: LockKeeper[] = [];
  #children: ChildProcess[] = [];

  /** Each has a process of its own: two of them are to each other what two servers are. */
  keeper(): LockKeeper {
    const keeper = new LockKeeper(python, silentLogger);
    this.#keepers.push(keeper);
    return keeper;
  }

  /** A fixture as a Node process. */
  start(fixture: string, settings: Record<string, unknown>): StartedUser {
    const script = fileURLToPath(new URL(`./fixtures/${fixture}.mjs`, import.meta.url));
    const options = JSON.stringify({ python, lock: this.lock, ...settings });
    const child = spawn(process.execPath, [script, options], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.push(child);
    return new StartedUser(child);
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(this.#keepers.map((keeper) => keeper.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class StartedUser extends SpeakingProcess {
  says(text: string): Promise<boolean> {
    return until(() => this.said.includes(text), `the process says ${text}`);
  }
}

/** A keeper reads requests in their order: after this it has tried all that were made before, and lined them up. */
export async function roundTrip(keeper: LockKeeper, path: string): Promise<void> {
  (await keeper.acquire(`${path}-other`, 'shared')).release();
}

/** Asks, and returns when the request is in the keeper's line. */
export async function lineUp(
  keeper: LockKeeper,
  path: string,
  mode: LockMode,
  had: () => void | Promise<void>,
) {
  const done = keeper.acquire(path, mode).then(async (hold) => {
    await had();
    hold.release();
  });
  await roundTrip(keeper, path);
  return { done };
}

/** Takes the lock again and again and never leaves it free, unless it would wait for itself otherwise. */
export function stream(keeper: LockKeeper, path: string, mode: LockMode) {
  let isStopped = false;
  const state = { count: 0 };
  const run = async () => {
    let hold = await keeper.acquire(path, mode);
    while (!isStopped) {
      const last = hold;
      const next = keeper.acquire(path, mode, { onWait: () => last.release() });
      if (mode === 'exclusive') last.release();
      hold = await next;
      last.release();
      state.count += 1;
    }
    hold.release();
  };
  const over = run();
  over.catch(() => {});
  const stop = () => {
    isStopped = true;
    return over;
  };
  return Object.assign(state, { stop });
}
