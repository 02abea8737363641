import { afterEach, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { PungiError } from '../../../pungi/src/index.js';
import { expectOk, sharedPungi, startPungi, verdictOf, withPungi } from './pungi.js';

const one = { MAX_CONCURRENT_EXECUTIONS: '1', POOL_SIZE: '1' };
const pungi = sharedPungi(one);
const FOREVER = 'import threading\nprint("going")\nthreading.Event().wait()';

const going = new Set<{ cancel: AbortController; outcome: Promise<unknown> }>();
afterEach(async () => {
  for (const { cancel } of going) cancel.abort();
  await Promise.all([...going].map(({ outcome }) => outcome));
  going.clear();
});

/** A run that goes on until it is cancelled; resolves once its code runs. */
async function endless(engine = pungi, code = FOREVER) {
  const cancel = new AbortController();
  let isGoing = false;
  const outcome = engine.run({ code }, { signal: cancel.signal, onLine: () => (isGoing = true) });
  going.add({ cancel, outcome });
  await until(() => isGoing, 'the run is going');
  return { outcome, cancel };
}

test('a run that was cancelled before it began never begins', async () => {
  const outcome = await pungi.run({ code: 'print(1)' }, { signal: AbortSignal.abort() });
  const { code, message } = verdictOf(outcome, 'cancelled');
  expect(code).toBe('CANCELLED');
  expect(message).not.toBe('');
  expect(outcome.isolation.tier).toBeNull();
  expect(outcome.stdout.text).toBe('');
});

test('a run that is cancelled in the queue never begins, and the one before it goes on', async () => {
  const { outcome, cancel } = await endless();
  const second = new AbortController();
  const queued = pungi.run({ code: 'print("never")' }, { signal: second.signal });
  await until(async () => (await pungi.health()).queue.waiting === 1, 'the second run waits');
  second.abort();
  const refused = await queued;
  verdictOf(refused, 'cancelled');
  expect(refused.isolation.tier).toBeNull();
  expect((await pungi.health()).queue).toMatchObject({ active: 1, waiting: 0 });
  cancel.abort();
  verdictOf(await outcome, 'cancelled');
});

test('whatever reason the caller gives, a cancelled run in the queue is cancelled', async () => {
  await endless();
  const second = new AbortController();
  const queued = pungi.run({ code: 'print("never")' }, { signal: second.signal });
  await until(async () => (await pungi.health()).queue.waiting === 1, 'the second run waits');
  second.abort(new PungiError('CANCELLED', 'not wanted any more'));
  verdictOf(await queued, 'cancelled');
});

test('a running one is ended with all of its processes and keeps what it printed', async () => {
  const code = py`
    import signal, subprocess, sys, threading
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print("going")
    threading.Event().wait()
  `;
  const { outcome, cancel } = await endless(pungi, code);
  cancel.abort();
  const ended = await outcome;
  verdictOf(ended, 'cancelled');
  expect(ended.stdout.text).toBe('going\n');
  expect(ended.isolation.tier).not.toBeNull();
  expect(ended.usage.wallMs).toBeGreaterThan(0);
  expectOk(await pungi.run({ code: 'print("the slot is free again")' }));
});

test('cancelling after the end changes nothing', async () => {
  const cancel = new AbortController();
  const outcome = await pungi.run({ code: 'print(1)' }, { signal: cancel.signal });
  cancel.abort();
  expectOk(outcome);
  expectOk(await pungi.run({ code: 'print(2)' }));
});

test('closing cancels the runs that go on and those that wait', async () => {
  const own = startPungi(one);
  const { outcome } = await endless(own);
  const queued = own.run({ code: 'print("never")' });
  await until(async () => (await own.health()).queue.waiting === 1, 'the second run waits');
  await own.close();
  expect((await outcome).verdict.kind).toBe('cancelled');
  expect((await queued).verdict.kind).toBe('cancelled');
  expect((await own.run({ code: 'print(1)' })).verdict.kind).toBe('cancelled');
});

test('a run that was cancelled while everything was still starting is cancelled', async () => {
  await withPungi(one, async (own) => {
    const cancel = new AbortController();
    const outcome = own.run({ code: FOREVER }, { signal: cancel.signal });
    cancel.abort();
    verdictOf(await outcome, 'cancelled');
  });
});
