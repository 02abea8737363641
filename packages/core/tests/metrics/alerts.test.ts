import { expect, onTestFinished, test } from 'vitest';
import { INTERNAL, outcomeOf, type Told } from '../../../../tests/support/outcomes.js';
import { until } from '../../../../tests/support/until.js';
import type { Verdict } from '../../src/contract/outcome.js';
import { Alerts, type Thresholds } from '../../src/metrics/alerts.js';
import { statusOf } from '../../src/metrics/metrics.js';
import { listeningLogger } from '../engine/pungi.js';
import { listenForWebhook } from './webhook-listener.js';

const OFF: Thresholds = {
  alertLatencyMs: 0,
  alertFailureRate: 0,
  alertMemoryMb: 0,
  alertQueue: 0,
  alertWindowMs: 300_000,
  alertWebhook: undefined,
};
const CALM_MS = 30_000;

/** Alerts with a clock of their own. */
function watching(thresholds: Partial<Thresholds>) {
  const logger = listeningLogger();
  const clock = { at: Date.parse('2030-01-01T00:00:00Z') };
  const alerts = new Alerts({ ...OFF, ...thresholds }, { logger, now: () => clock.at });
  onTestFinished(() => alerts.close());
  return {
    alerts,
    logged: () => logger.entries.map(({ level, message, context }) => [level, message, context['name']]),
    names: () => alerts.current.map(({ name }) => name),
    /** Runs that end one after another. */
    run: (count: number, told: Told = {}) => {
      for (let left = count; left > 0; left -= 1) {
        clock.at += 1 + (told.wallMs ?? 1);
        alerts.record(outcomeOf(told));
      }
      alerts.evaluate();
    },
    /** So much later, looked at once a second meanwhile, as the timer does. */
    later: (ms: number) => {
      for (const end = clock.at + ms; clock.at < end; ) {
        clock.at = Math.min(end, clock.at + 1000);
        alerts.evaluate();
      }
    },
    clock,
  };
}

test('slow runs raise an alert once, with a sentence, and fast ones clear it once', () => {
  const { alerts, run, later, logged } = watching({ alertLatencyMs: 100 });
  run(4, { wallMs: 150 });
  expect(alerts.current).toEqual([]);
  run(20, { wallMs: 150 });
  expect(alerts.current).toEqual([
    {
      name: 'latency',
      value: 150,
      threshold: 100,
      since: expect.stringMatching(/^2030-01-01T00:00:0\d\.\d+Z$/),
      message: '95 % of the latest 24 runs took up to 150 ms, waiting included; the threshold is 100 ms.',
    },
  ]);
  expect(logged()).toEqual([['error', 'Alert raised', 'latency']]);
  run(490, { wallMs: 10 });
  later(CALM_MS);
  expect(alerts.current).toEqual([]);
  expect(logged()).toEqual([
    ['error', 'Alert raised', 'latency'],
    ['info', 'Alert cleared', 'latency'],
  ]);
});

test('runs that wait long for their turn are slow, however quick they are then', () => {
  const { run, names } = watching({ alertLatencyMs: 100 });
  run(20, { wallMs: 1, waitMs: 150 });
  expect(names()).toEqual(['latency']);
});

test('an alert whose cause has ended is not shown, though its end is told only when it lasts', () => {
  const { alerts, names, logged } = watching({ alertQueue: 20 });
  alerts.evaluate({ queued: 21, serverMemoryMb: 0 });
  expect(names()).toEqual(['queue']);
  alerts.evaluate({ queued: 0, serverMemoryMb: 0 });
  expect(names()).toEqual([]);
  expect(logged()).toEqual([['error', 'Alert raised', 'queue']]);
  alerts.evaluate({ queued: 25, serverMemoryMb: 0 });
  expect(alerts.current).toMatchObject([{ name: 'queue', value: 25 }]);
  expect(logged()).toHaveLength(1);
});

test('one slow run among a few is no alert', () => {
  const { run, names } = watching({ alertLatencyMs: 100 });
  run(10);
  run(1, { wallMs: 5000 });
  run(10);
  expect(names()).toEqual([]);
});

test('a figure around its threshold does not make the alert flap', () => {
  const { alerts, later, logged } = watching({ alertQueue: 10 });
  for (let round = 0; round < 50; round += 1) {
    alerts.evaluate({ queued: round % 2 === 0 ? 11 : 0, serverMemoryMb: 0 });
    later(CALM_MS - 2000);
  }
  alerts.evaluate({ queued: 9, serverMemoryMb: 0 });
  later(10 * CALM_MS);
  expect(logged()).toEqual([['error', 'Alert raised', 'queue']]);
  alerts.evaluate({ queued: 8, serverMemoryMb: 0 });
  later(CALM_MS);
  expect(logged()).toHaveLength(2);
});

test('what is older than the window counts no more', () => {
  const { run, names, later } = watching({ alertFailureRate: 20, alertWindowMs: 60_000 });
  run(10, { verdict: INTERNAL });
  expect(names()).toEqual(['failure-rate']);
  later(59_000);
  expect(names()).toEqual(['failure-rate']);
  later(CALM_MS + 2000);
  expect(names()).toEqual([]);
  run(5);
  expect(names()).toEqual([]);
});

const exception = {
  type: 'E',
  message: '',
  line: 1,
  column: 1,
  text: '',
  traceback: '',
  missingModule: null,
  missingPackage: null,
  hint: null,
};
const say = { message: 'No.' };

test.each<[string, 'counts' | 'does not count', Verdict]>([
  ['an internal error', 'counts', INTERNAL],
  ['a full queue', 'counts', { kind: 'busy', code: 'SERVER_BUSY', ...say, queued: 9 }],
  [
    'a limit of the caller',
    'does not count',
    { kind: 'busy', code: 'SERVER_BUSY', ...say, queued: 0, fault: 'caller' },
  ],
  ['a damaged environment', 'counts', { kind: 'no-environment', code: 'ENVIRONMENT_DAMAGED', ...say }],
  ['a missing installer', 'counts', { kind: 'no-environment', code: 'TOOL_UNAVAILABLE', ...say }],
  [
    'an unknown environment',
    'does not count',
    { kind: 'no-environment', code: 'ENVIRONMENT_NOT_FOUND', ...say },
  ],
  [
    'an unknown package',
    'does not count',
    { kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR', ...say },
  ],
  ['an exception', 'does not count', { kind: 'python-error', code: 'PYTHON_ERROR', ...say, exception }],
  ['an exit', 'does not count', { kind: 'exited', code: 'NONZERO_EXIT', ...say, status: 1 }],
  ['a timeout', 'does not count', { kind: 'timed-out', code: 'EXECUTION_TIMEOUT', ...say, limitMs: 1 }],
  [
    'too much memory',
    'does not count',
    { kind: 'memory-exceeded', code: 'MEMORY_LIMIT_EXCEEDED', ...say, limitMb: 1 },
  ],
  ['a denial', 'does not count', { kind: 'denied', code: 'DENIED', ...say, reason: 'No.' }],
  ['bad input', 'does not count', { kind: 'invalid', code: 'INVALID_INPUT', ...say, issues: [] }],
  ['a cancelled run', 'does not count', { kind: 'cancelled', code: 'CANCELLED', ...say }],
])('%s %s as a failure of the server', (_what, counts, verdict) => {
  const { run, names } = watching({ alertFailureRate: 20 });
  run(10, { verdict });
  expect(names()).toEqual(counts === 'counts' ? ['failure-rate'] : []);
});

test('requests that are refused for a reason do not hide failures, and neither do kept outcomes', () => {
  const { run, alerts } = watching({ alertFailureRate: 50 });
  run(400, { verdict: { kind: 'invalid', code: 'INVALID_INPUT', ...say, issues: [] } });
  run(400, { isCached: true });
  run(6, { verdict: INTERNAL });
  run(4);
  expect(alerts.current).toMatchObject([{ name: 'failure-rate', value: 60 }]);
  expect(alerts.current[0]?.message).toBe(
    'The server itself failed 60 % of the latest 10 runs; the threshold is 50 %.',
  );
});

test('memory is that of the server and of the runs that were under way together', () => {
  const { alerts, clock, run, names } = watching({ alertMemoryMb: 1000 });
  alerts.evaluate({ queued: 0, serverMemoryMb: 100 });
  run(20, { peakMemoryMb: 800, wallMs: 50 });
  expect(names()).toEqual([]);
  // Two that lasted at the same time, the second of them within the first.
  clock.at += 1000;
  alerts.record(outcomeOf({ peakMemoryMb: 400, wallMs: 10 }));
  clock.at += 1;
  alerts.record(outcomeOf({ peakMemoryMb: 550, wallMs: 500 }));
  expect(alerts.current).toMatchObject([{ name: 'memory', value: 1050, threshold: 1000 }]);
});

test('a server that grows by itself is an alert of memory', () => {
  const { alerts, names } = watching({ alertMemoryMb: 1000 });
  alerts.evaluate({ queued: 0, serverMemoryMb: 1001 });
  expect(names()).toEqual(['memory']);
});

test('a threshold of 0 is none', async () => {
  const { run, names, alerts } = watching({});
  run(20, { verdict: INTERNAL, wallMs: 1e6, peakMemoryMb: 1e6 });
  alerts.evaluate({ queued: 1e6, serverMemoryMb: 1e6 });
  expect(names()).toEqual([]);
});

test('however many runs there were, only the latest are remembered', () => {
  const { run, alerts } = watching({ alertLatencyMs: 10 });
  run(3000, { wallMs: 20 });
  expect(alerts.current[0]?.message).toContain('the latest 500 runs');
});

test('without any run the readings are looked at by the clock', async () => {
  const logger = listeningLogger();
  let queued = 0;
  const read = () => ({ queued, serverMemoryMb: 0 });
  const alerts = new Alerts({ ...OFF, alertQueue: 5, alertWindowMs: 50 }, { logger, read });
  onTestFinished(() => alerts.close());
  queued = 6;
  await until(() => alerts.current.length === 1, 'the queue is an alert');
  queued = 0;
  await until(() => alerts.current.length === 0, 'it is over');
});

test('the webhook is told when an alert is raised and when it is over', async () => {
  const { address, heard } = await listenForWebhook();
  const { alerts, later } = watching({ alertQueue: 5, alertWebhook: address });
  alerts.evaluate({ queued: 6, serverMemoryMb: 0 });
  await until(() => heard.length === 1, 'the webhook has heard of it');
  alerts.evaluate({ queued: 0, serverMemoryMb: 0 });
  later(CALM_MS);
  await until(() => heard.length === 2, 'the webhook has heard of its end');
  const since = '2030-01-01T00:00:00.000Z';
  expect(heard.map(({ body }) => body)).toEqual([
    {
      server: 'pungi',
      version: expect.stringMatching(/^\d/),
      event: 'raised',
      alert: {
        name: 'queue',
        value: 6,
        threshold: 5,
        since,
        message: '6 runs are waiting; the threshold is 5.',
      },
      at: since,
    },
    expect.objectContaining({
      event: 'cleared',
      alert: expect.objectContaining({ name: 'queue', value: 0, since }),
      at: '2030-01-01T00:00:30.000Z',
    }),
  ]);
});

test('the status says whether runs work, and whether they work as they should', () => {
  const well = { problem: null, isReady: true, alerts: [], auditProblem: null, environmentProblem: null };
  const { alerts } = watching({ alertQueue: 1 });
  alerts.evaluate({ queued: 2, serverMemoryMb: 0 });
  expect(statusOf(well)).toBe('healthy');
  expect(statusOf({ ...well, isReady: false })).toBe('starting');
  expect(statusOf({ ...well, alerts: alerts.current })).toBe('degraded');
  expect(statusOf({ ...well, alerts: alerts.current, auditProblem: 'The disk is full.' })).toBe('unhealthy');
  expect(statusOf({ ...well, environmentProblem: 'numpy could not be installed.' })).toBe('unhealthy');
  expect(statusOf({ ...well, isReady: false, problem: 'There is no Python.' })).toBe('unhealthy');
});
