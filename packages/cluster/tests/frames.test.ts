import { array, assert, asyncProperty, boolean, constantFrom, tuple, uint8Array } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { FrameReceiver } from '../src/front/frame-receiver.js';
import { Holdings } from '../src/front/holdings.js';
import {
  type FrameKind,
  MOST_PAYLOAD,
  packAttached,
  packFrame,
  readAttached,
  readFrames,
} from '../src/protocol/frames.js';
import { WINDOW_BYTES } from '../src/protocol/timing.js';
import { FrameSender } from '../src/worker/frame-sender.js';

interface Received {
  kind: FrameKind;
  text: string;
}

function receiverInto(received: Received[], ack: (next: number) => void = () => {}) {
  return new FrameReceiver({
    onFrame: (kind, payload) => received.push({ kind, text: payload.toString('hex') }),
    ack,
    onTooMuch: () => received.push({ kind: 'refused', text: 'too much' }),
    mostBytes: 100 * 1024 * 1024,
    hold: () => true,
  });
}

test('whatever a network loses, repeats or delays, frames arrive once and in order', async () => {
  const payloads = array(
    tuple(constantFrom<FrameKind>('stdout', 'stderr', 'display'), uint8Array({ maxLength: 20 })),
    {
      maxLength: 30,
    },
  );
  // What happens to each message on its way: lost, delivered, delivered twice, or delayed behind the next.
  const fates = array(constantFrom('lost', 'once', 'twice', 'late'), { minLength: 1, maxLength: 40 });
  await assert(
    asyncProperty(payloads, fates, boolean(), async (frames, ways, losesAcks) => {
      const received: Received[] = [];
      let at = 0;
      let late: Buffer[] = [];
      let isFair = false;
      const acks: number[] = [];
      const receiver = receiverInto(received, (next) => acks.push(next));
      const publish = (frame: Buffer) => {
        const fate = isFair ? 'once' : ways[at++ % ways.length];
        const before = late;
        late = [];
        if (fate === 'late') late = [frame];
        else
          for (let n = fate === 'twice' ? 2 : fate === 'once' ? 1 : 0; n > 0; n -= 1) receiver.receive(frame);
        for (const each of before) receiver.receive(each);
      };
      const sender = new FrameSender(publish);
      for (const [kind, payload] of frames) void sender.send(kind, Buffer.from(payload));
      void sender.send('end', Buffer.from('end'));
      sender.finish();
      for (let round = 0; round < 3; round += 1) {
        isFair = round === 2;
        sender.resend();
        receiver.ack();
        const next = acks.pop()!;
        if (isFair || !losesAcks) sender.ack(next);
      }
      await sender.done;
      receiver.stop();
      expect(received).toEqual([
        ...frames.map(([kind, payload]) => ({ kind, text: Buffer.from(payload).toString('hex') })),
        { kind: 'end', text: Buffer.from('end').toString('hex') },
      ]);
    }),
  );
});

test('a payload that is larger than a message is put together again', () => {
  const received: Received[] = [];
  const receiver = receiverInto(received);
  const sender = new FrameSender((frame) => {
    expect(frame.length).toBeLessThan(600 * 1024);
    receiver.receive(frame);
  });
  const payload = Buffer.alloc(3 * MOST_PAYLOAD + 5, 'abc');
  void sender.send('display', payload);
  sender.finish();
  void sender.send('end', Buffer.alloc(0));
  expect(received).toEqual([
    { kind: 'display', text: payload.toString('hex') },
    { kind: 'end', text: '' },
  ]);
  sender.stop();
  receiver.stop();
});

test('the frames of a short run are one message, and those of a long one do not wait for its end', async () => {
  const messages: FrameKind[][] = [];
  const sender = new FrameSender((message) => messages.push(readFrames(message).map(({ kind }) => kind)));
  void sender.send('started', Buffer.alloc(0));
  void sender.send('stdout', Buffer.from('text'));
  void sender.send('end', Buffer.from('end'));
  expect(messages).toEqual([['started', 'stdout', 'end']]);
  sender.stop();
  const long = new FrameSender((message) => messages.push(readFrames(message).map(({ kind }) => kind)));
  void long.send('started', Buffer.alloc(0));
  await until(() => messages.length === 2, 'the start is sent by itself');
  expect(messages[1]).toEqual(['started']);
  long.stop();
});

test('a sender waits while the window is full, until enough is acknowledged or nobody wants it', async () => {
  const seqs: number[] = [];
  const sender = new FrameSender((message) => seqs.push(...readFrames(message).map(({ seq }) => seq)));
  const block = Buffer.alloc(MOST_PAYLOAD);
  const waits: (Promise<void> | undefined)[] = [];
  while (waits.at(-1) === undefined) waits.push(sender.send('stdout', block));
  expect(waits.length * MOST_PAYLOAD).toBeGreaterThanOrEqual(WINDOW_BYTES);
  sender.ack(seqs.length);
  await waits.at(-1);
  while (waits.at(-1) === undefined || waits.length < 12) waits.push(sender.send('stdout', block));
  sender.discard();
  await waits.at(-1);
  expect(sender.send('stdout', block)).toBeUndefined();
  sender.stop();
});

test('a sender gives up when what it has sent last is not acknowledged for ten seconds', async () => {
  vi.useFakeTimers();
  try {
    let sent = 0;
    const sender = new FrameSender(() => {
      sent += 1;
    });
    void sender.send('end', Buffer.from('end'));
    vi.advanceTimersByTime(60_000);
    expect(sent).toBeGreaterThan(100); // the run may go on
    sender.finish();
    vi.advanceTimersByTime(11_000);
    await sender.done;
  } finally {
    vi.useRealTimers();
  }
});

test('a receiver stops at what no run sends', () => {
  const problems: string[] = [];
  const receiver = new FrameReceiver({
    onFrame: () => {},
    ack: () => {},
    onTooMuch: () => problems.push('too much'),
    mostBytes: 1000,
    hold: () => true,
  });
  const sender = new FrameSender((frame) => receiver.receive(frame));
  void sender.send('stdout', Buffer.alloc(600));
  sender.resend();
  expect(problems).toEqual([]);
  void sender.send('stdout', Buffer.alloc(600));
  sender.resend();
  expect(problems).toEqual(['too much']);
  sender.stop();
  receiver.stop();
});

test('attached bytes are separated again, and nonsense is not read', async () => {
  await assert(
    asyncProperty(uint8Array(), uint8Array(), async (json, attached) => {
      const read = readAttached(packAttached(Buffer.from(json), Buffer.from(attached)));
      expect(read?.json).toEqual(Buffer.from(json));
      expect(read?.attached).toEqual(Buffer.from(attached));
    }),
  );
  expect(readAttached(Buffer.from([0, 0]))).toBeUndefined();
  expect(readAttached(Buffer.from([255, 255, 255, 255, 1]))).toBeUndefined();
  expect(readFrames(Buffer.from('?'.repeat(100)))).toEqual([]);
});

test('no worker can make a front end hold more than its share, whatever it sends in how many runs', () => {
  const holdings = new Holdings(1400);
  const problems: string[] = [];
  const receiverOf = (worker: string) =>
    new FrameReceiver({
      onFrame: () => {},
      ack: () => {},
      onTooMuch: () => problems.push(worker),
      mostBytes: 10_000,
      hold: (bytes) => holdings.take(worker, bytes),
    });
  const payload = Buffer.alloc(394);
  const unfinished = packFrame({ kind: 'display', seq: 0, goesOn: true, payload });
  const receivers = ['liar', 'liar', 'liar', 'honest'].map(receiverOf);
  for (const receiver of receivers) receiver.receive(unfinished);
  expect(problems).toEqual(['liar']);
  // Output is passed on, and not held.
  receiverOf('liar').receive(packFrame({ kind: 'stdout', seq: 0, goesOn: false, payload }));
  expect(problems).toEqual(['liar']);
  holdings.giveBack('liar', 1320);
  receiverOf('liar').receive(unfinished);
  expect(problems).toEqual(['liar']);
  for (const receiver of receivers) receiver.stop();
});

test('what a front end holds is no view of its message, and counts as what it takes', () => {
  let counted = 0;
  const memory: number[] = [];
  const receiver = new FrameReceiver({
    onFrame: (_, payload) => memory.push(payload.buffer.byteLength),
    ack: () => {},
    onTooMuch: () => {},
    mostBytes: 2 ** 30,
    hold: (bytes) => {
      counted += bytes;
      return true;
    },
  });
  const part = (seq: number, bytes: number, goesOn = true) =>
    packFrame({ kind: 'display', seq, goesOn, payload: Buffer.alloc(bytes) });
  receiver.receive(Buffer.concat([part(0, 1, false), Buffer.alloc(1_000_000)]));
  expect(memory).toHaveLength(1);
  expect(memory[0]).toBeLessThan(100_000);
  counted = 0;
  // A buffer without content takes a hundred bytes and more.
  receiver.receive(Buffer.concat(Array.from({ length: 1000 }, (_, n) => part(1 + n, 0))));
  expect(counted).toBeGreaterThan(1000 * 100);
  receiver.stop();
});
