import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import type { Outcome } from '../../src/contract/outcome.js';
import type { AttackTier } from './attack.js';
import { descendantsOf } from './process-tree.js';
import { buildStage, runnerFolder, type Stage, startedIn, USERS } from './stage.js';

const NAME = 'stalled-run';
/** Has a name by which its processes are found on the machine, and prints without end. */
const FLOOD = py`
  import ctypes, os, threading, time
  ctypes.CDLL(None).prctl(15, b"${NAME}", 0, 0, 0)
  print("going", flush=True)
`;
const PRINT = 'while True: print("x" * 1000)\n';
const GROW = py`
  def grow():
      kept = [(b"x" * (8 << 20), time.sleep(0.02)) for _ in range(60)]
      os._exit(0)
  time.sleep(0.3)
  threading.Thread(target=grow).start()
`;
const SPIN = py`
  def spin():
      end = time.thread_time() + 8
      while time.thread_time() < end: pass
      os._exit(0)
  threading.Thread(target=spin).start()
`;

const RUNS = [
  {
    name: 'memory',
    code: FLOOD + GROW + PRINT,
    limits: { memoryMb: 64 },
    kind: 'memory-exceeded',
  },
  { name: 'CPU time', code: FLOOD + SPIN + PRINT, limits: { cpuMs: 800 }, kind: 'cpu-exceeded' },
  { name: 'the deadline', code: FLOOD + PRINT, limits: { timeoutMs: 2500 }, kind: 'timed-out' },
];
const WHO: [AttackTier, 'root' | 'user'][] = (['namespace', 'landlock'] as const).flatMap((tier) =>
  USERS.map((user) => [tier, user] as [AttackTier, 'root' | 'user']),
);

describe.skipIf(process.platform !== 'linux')('a server that is stopped while a run goes on', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await buildStage('stalled-server-runner');
  }, 60_000);
  afterAll(() => stage?.remove());

  describe.each(WHO)('%s tier, started as %s', (tier, user) => {
    test.for(RUNS)('$name is still bounded, and the answer comes later', async ({ code, limits, kind }) => {
      const outcome = await runWhileStopped(stage, tier, user, {
        code,
        limits: { outputHardBytes: 64 * 1024 * 1024, ...limits },
      });
      expect(outcome.verdict.kind).toBe(kind);
      expect(outcome.usage.peakMemoryMb).toBeLessThan(128);
      expect(outcome.stdout.text.slice(0, 6)).toBe('going\n');
    });
  });
});

const folders = new Map<string, string>();
function folderOf(stage: Stage, tier: AttackTier, user: 'root' | 'user'): string {
  const key = `${tier} ${user}`;
  const known = folders.get(key) ?? runnerFolder(stage, tier, user);
  folders.set(key, known);
  return known;
}

/** Starts the server, stops it once the run prints, lets it go on when no process of the run is left. */
async function runWhileStopped(
  stage: Stage,
  tier: AttackTier,
  user: 'root' | 'user',
  request: object,
): Promise<Outcome> {
  const folder = folderOf(stage, tier, user);
  const told = JSON.stringify({ tier, python: stage.python, request });
  const child = spawn(stage.node, [stage.runner, told], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...startedIn(folder, user),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value as string;
  const isLeft = () => descendantsOf(child.pid!).some(({ command }) => command === NAME);
  try {
    expect(await next()).toBe('going');
    expect(isLeft()).toBe(true);
    child.kill('SIGSTOP');
    await until(() => !isLeft(), 'the run has ended');
    child.kill('SIGCONT');
    return JSON.parse(await next()) as Outcome;
  } finally {
    child.kill('SIGKILL');
  }
}
