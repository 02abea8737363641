import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TurnCounter } from '../../../../tests/support/turn-counter.js';
import { until } from '../../../../tests/support/until.js';
import { DEFAULT_LIMITS } from '../../../pungi/src/index.js';
import { type FrameKind, FrameParser, packFrame } from '../../src/runtime/frames.js';
import type { Job, RunEnd } from '../../src/runtime/job.js';
import { Supervisor } from '../../src/runtime/supervisor.js';

const ABOUT = { features: ['x'], python: '3.11', magic: 'm' };
const FACTS = { killedFor: null, status: 0, signal: null, wallMs: 1, cpuMs: 1, peakBytes: 1 };
const END = packFrame('end', JSON.stringify(FACTS));
const PARKED = packFrame('parked', JSON.stringify(ABOUT));
const JOB: Job = {
  code: 'print(1)',
  filename: 'main.py',
  argv: [],
  stdin: '',
  files: [],
  env: {},
  limits: DEFAULT_LIMITS,
  variables: {},
};

let folder: string;
let server: Server;
/** The process's end of the connection, and what it was told. */
let other: Socket;
let told: { kind: FrameKind; text: string }[];
let supervisor: Supervisor;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-test-'));
  const path = join(folder, 'socket');
  const accepted = new Promise<Socket>((resolve) => {
    server = createServer(resolve).listen(path, () => {
      other = connect(path);
    });
  });
  const socket = await accepted;
  supervisor = new Supervisor(socket, 'supervisor');
  const parser = new FrameParser((kind, payload) => supervisor.receive(kind, payload));
  socket.on('data', (chunk) => parser.feed(chunk));
  supervisor.receive('parked', Buffer.from(JSON.stringify(ABOUT)));
  told = [];
  const heard = new FrameParser((kind, payload) => told.push({ kind, text: payload.toString() }));
  other.on('data', (chunk) => heard.feed(chunk));
});
afterEach(() => {
  supervisor.discard();
  other.destroy();
  server.close();
  rmSync(folder, { recursive: true });
});

const hears = (count: number) => until(() => told.length === count, `${count} frames have come`);

test('is told the limits first, with what it has to know beside them, and then the job', async () => {
  const ended = supervisor.run(JOB, () => {}, undefined, true);
  await hears(2);
  expect(told.map(({ kind }) => kind)).toEqual(['limits', 'job']);
  expect(JSON.parse(told[0]!.text)).toEqual({
    ...DEFAULT_LIMITS,
    reportBytes: 2 ** 20,
    isHurried: true,
    isScoped: false,
    isKept: false,
    branch: 'main',
  });
  expect(JSON.parse(told[1]!.text)).toEqual(JOB);
  other.write(END);
  expect(await ended).toEqual({ facts: FACTS, report: undefined, summary: null });
});

test('large jobs are hashed and serialized in turns of the event loop of their own', async () => {
  const turns = new TurnCounter();
  const written: number[] = [];
  const supervisors = Array.from({ length: 5 }, () => {
    const channel = new EventEmitter();
    const write = (frame: Buffer) => frame.length > 1000 && written.push(turns.count);
    const one = new Supervisor(
      Object.assign(channel, { write, destroy: () => channel.emit('close') }),
      'one',
    );
    one.receive('parked', Buffer.from(JSON.stringify(ABOUT)));
    return one;
  });
  const read: number[] = [];
  const large = {
    ...JOB,
    artifactBytes: 1024,
    files: [{ path: 'data.csv', base64: 'x'.repeat(1024 * 1024) }],
    get filename() {
      read.push(turns.count);
      return 'main.py';
    },
  };
  const ended = supervisors.map((one) => one.run(large, () => {}));
  await until(() => written.length === 5, 'all jobs are written');
  expect(new Set(written).size).toBe(5);
  expect(new Set(read)).toEqual(new Set(written));
  for (const one of supervisors) one.discard();
  await Promise.all(ended);
  turns.stop();
});

test('may report more where the answer is bytecode, and is not hurried unless it is said', async () => {
  const ended = supervisor.run({ ...JOB, task: 'compile' }, () => {});
  await hears(2);
  expect(JSON.parse(told[0]!.text)).toMatchObject({ reportBytes: 32 * 2 ** 20, isHurried: false });
  other.write(END);
  await ended;
});

test('gives one run after the other, and says when the next worker is parked', async () => {
  let parked = 0;
  supervisor.onParked = () => {
    parked += 1;
  };
  for (const name of ['one', 'two']) {
    const heard: string[] = [];
    const ended = supervisor.run(JOB, (stream, data) => heard.push(`${stream} ${data}`));
    other.write(Buffer.concat([packFrame('stdout', name), packFrame('stderr', name)]));
    other.write(Buffer.concat([packFrame('report', JSON.stringify({ value: name })), END]));
    other.write(packFrame('parked', JSON.stringify({ ...ABOUT, magic: name })));
    expect(await ended).toEqual({ facts: FACTS, report: { value: name }, summary: null });
    expect(heard).toEqual([`stdout ${name}`, `stderr ${name}`]);
    await until(() => supervisor.about?.magic === name, 'the next worker is parked');
  }
  expect(parked).toBe(2);
});

test('waits with a run for the next worker, and gives up when there will be none', async () => {
  const first = supervisor.run(JOB, () => {});
  await hears(2);
  other.write(END);
  await first;
  const second = supervisor.run(JOB, () => {});
  other.write(PARKED);
  await hears(4);
  other.write(END);
  expect((await second).facts).toEqual(FACTS);
  const third = supervisor.run(JOB, () => {});
  other.destroy();
  expect((await third).facts).toBeNull();
  expect((await supervisor.run(JOB, () => {})).facts).toBeNull();
});

test('knows that a worker was parked in a hurry, until it is warmed up', async () => {
  const ended = supervisor.run(JOB, () => {}, undefined, true);
  other.write(END);
  await ended;
  expect(supervisor.isCold).toBe(true);
  supervisor.warmUp();
  await hears(3);
  expect(told[2]!.kind).toBe('warmUp');
  expect(supervisor.isCold).toBe(false);
});

test('what comes between two runs belongs to none', async () => {
  other.write(Buffer.concat([packFrame('report', '{"value":"early"}'), packFrame('stdout', 'early'), END]));
  supervisor.isParked = false;
  other.write(PARKED);
  await until(() => supervisor.isParked, 'everything has come');
  const heard: Buffer[] = [];
  const ended = supervisor.run(JOB, (_, data) => heard.push(data));
  other.write(END);
  expect(await ended).toEqual({ facts: FACTS, report: undefined, summary: null });
  expect(heard).toEqual([]);
});

test('a report that is no JSON is no report', async () => {
  const ended = supervisor.run(JOB, () => {});
  other.write(Buffer.concat([packFrame('report', '{'), END]));
  expect(await ended).toEqual({ facts: FACTS, report: undefined, summary: null });
});

test('is told that the code has a scope to stay in', async () => {
  const rules = { profile: 'p', message: null, allowedImports: [] };
  const none = { blockedImports: [], blockedBuiltins: [], blockedOperations: [], defaultImports: [] };
  const ended = supervisor.run({ ...JOB, rules: { ...rules, ...none } }, () => {});
  await hears(2);
  expect(JSON.parse(told[0]!.text)).toMatchObject({ isScoped: true });
  other.write(END);
  await ended;
});

describe('a summary of the code', () => {
  const summary = (text: string) => ({
    imports: ['json'],
    reads: [],
    writes: [],
    plots: false,
    dataFrames: false,
    functions: [],
    lines: 1,
    text,
  });
  const say = (...said: unknown[]) => {
    for (const each of said) other.write(packFrame('summary', JSON.stringify(each)));
    other.write(END);
  };

  test('the first one counts', async () => {
    const ended = supervisor.run({ ...JOB, summarize: true }, () => {});
    say(summary('first'), summary('second'));
    expect((await ended).summary).toEqual(summary('first'));
  });

  test('is not taken where nobody asked for it', async () => {
    const ended = supervisor.run(JOB, () => {});
    say(summary('unasked'));
    expect((await ended).summary).toBeNull();
  });

  test('of another form is none', async () => {
    const ended = supervisor.run({ ...JOB, summarize: true }, () => {});
    say({ ...summary('x'), lines: 'many' });
    expect((await ended).summary).toBeNull();
  });
});

test('is told of a cancelled run once, also of one that was cancelled before', async () => {
  for (const isBefore of [true, false]) {
    told.length = 0;
    const cancel = new AbortController();
    if (isBefore) cancel.abort();
    const ended = supervisor.run(JOB, () => {}, cancel.signal);
    cancel.abort();
    await hears(3);
    expect(told.map(({ kind }) => kind)).toEqual(['limits', 'job', 'cancel']);
    other.write(END);
    other.write(PARKED);
    await ended;
  }
});

test('an abort after the end says nothing to whoever runs next', async () => {
  const cancel = new AbortController();
  const ended = supervisor.run(JOB, () => {}, cancel.signal);
  other.write(END);
  other.write(PARKED);
  await ended;
  cancel.abort();
  const next = supervisor.run(JOB, () => {});
  await hears(4);
  expect(told.map(({ kind }) => kind)).toEqual(['limits', 'job', 'limits', 'job']);
  other.write(END);
  await next;
});

test.each<[string, () => void]>([
  ['goes away', () => other.destroy()],
  ['says that it cannot go on', () => other.write(packFrame('failed', 'no room'))],
])('one that %s is lost, and its run with it', async (_, leave) => {
  let isLost = false;
  supervisor.onLost = () => {
    isLost = true;
  };
  const ended = supervisor.run(JOB, () => {});
  await hears(2);
  leave();
  expect(await ended).toEqual({ facts: null, report: undefined, summary: null });
  await until(() => isLost, 'the loss is told');
});

test('one that does not answer long after the deadline is cut off', async () => {
  const ended: Promise<RunEnd> = supervisor.run(
    { ...JOB, limits: { ...DEFAULT_LIMITS, timeoutMs: 1 } },
    () => {},
  );
  expect((await ended).facts).toBeNull();
  await until(() => other.destroyed || other.readableEnded, 'the connection is over');
});

test('an answer that came while this process could not listen is read, however late that is', async () => {
  const path = join(folder, 'another');
  const answering = `
    const { parentPort, workerData } = require('node:worker_threads');
    const other = require('node:net').connect(workerData.path);
    other.on('data', () => other.write(Buffer.from(workerData.end)));
  `;
  const listener = createServer().listen(path);
  const connected = new Promise<Socket>((resolve) => listener.on('connection', resolve));
  const peer = new Worker(answering, { eval: true, workerData: { path, end: END } });
  try {
    const socket = await connected;
    const late = new Supervisor(socket, 'late');
    const parser = new FrameParser((kind, payload) => late.receive(kind, payload));
    socket.on('data', (chunk) => parser.feed(chunk));
    late.receive('parked', Buffer.from(JSON.stringify(ABOUT)));
    const ended = late.run({ ...JOB, limits: { ...DEFAULT_LIMITS, timeoutMs: 1 } }, () => {});
    // Longer than an answer is waited for.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2600);
    expect((await ended).facts).toEqual(FACTS);
    late.discard();
  } finally {
    await peer.terminate();
    listener.close();
  }
});
