import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PungiError } from '../../src/base/errors.js';
import { FairQueue } from '../../src/engine/fair-queue.js';

/** Arrivals of clients, ends of active runs, and waiting runs that give up. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('arrive' as const),
        client: fc.constantFrom('a', 'b', 'c'),
        memoryMb: fc.integer({ min: 0, max: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('leave' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('give up' as const), which: fc.nat(20) }) },
  ),
  { maxLength: 120 },
);

/** The queue as a plain list would be: what is active, and who waits for whom, in turns between clients. */
class Model {
  active: number[] = [];
  memoryMb = new Map<number, number>();
  clientOf = new Map<number, string>();
  /** Clients in the order of their next turns, each with its own runs in the order of their arrival. */
  lines: { client: string; runs: number[] }[] = [];

  constructor(
    readonly slots: number,
    readonly capacity: number,
    readonly totalMb: number,
    readonly slotsPerClient: number,
  ) {}

  hasRoom(run: number): boolean {
    const used = [...this.active, run].reduce((sum, one) => sum + this.memoryMb.get(one)!, 0);
    return this.active.length < this.slots && used <= this.totalMb && this.mayStart(run);
  }

  /** Whether its client has not all of its slots. */
  mayStart(run: number): boolean {
    const client = this.clientOf.get(run);
    return this.active.filter((one) => this.clientOf.get(one) === client).length < this.slotsPerClient;
  }

  get waitingForOthers(): number[] {
    return this.waiting.filter((run) => this.mayStart(run));
  }

  get waiting(): number[] {
    return this.lines.flatMap(({ runs }) => runs);
  }

  /** The run that is refused: this one, or the last of the client that has the most waiting. */
  arrive(client: string, run: number, memoryMb: number): number | undefined {
    this.memoryMb.set(run, memoryMb);
    this.clientOf.set(run, client);
    if ((this.waitingForOthers.length === 0 || memoryMb === 0) && this.hasRoom(run)) {
      this.active.push(run);
      return undefined;
    }
    const line = this.lines.find((one) => one.client === client);
    let refused: number | undefined;
    if (this.waiting.length >= this.capacity) {
      const most = Math.max(0, ...this.lines.map(({ runs }) => runs.length));
      if (most <= (line?.runs.length ?? 0) + 1) return run;
      refused = this.lines.find(({ runs }) => runs.length === most)!.runs.pop();
    }
    if (line) line.runs.push(run);
    else this.lines.push({ client, runs: [run] });
    return refused;
  }

  leave(run: number): void {
    this.active = this.active.filter((other) => other !== run);
    this.startNext();
  }

  startNext(): void {
    for (;;) {
      const first = this.waitingForOthers[0];
      const run = this.waitingForOthers.find(
        (one) => (one === first || this.memoryMb.get(one) === 0) && this.hasRoom(one),
      );
      if (run === undefined) return;
      const next = this.lines.find(({ runs }) => runs.includes(run))!;
      next.runs = next.runs.filter((other) => other !== run);
      this.lines = this.lines.filter((line) => line !== next);
      if (next.runs.length > 0) this.lines.push(next);
      this.active.push(run);
    }
  }

  giveUp(run: number): void {
    for (const line of this.lines) line.runs = line.runs.filter((other) => other !== run);
    this.lines = this.lines.filter(({ runs }) => runs.length > 0);
    this.startNext();
  }
}

const SIZES = fc.record({
  slots: fc.integer({ min: 1, max: 3 }),
  slotsPerClient: fc.integer({ min: 1, max: 3 }),
  capacity: fc.nat(6),
  totalMb: fc.constantFrom(3, 4, Number.POSITIVE_INFINITY),
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('never lets more in than there are slots, slots of a client and memory, keeps each client’s order but for who needs no memory, and takes turns between clients', async () => {
  await fc.assert(
    fc.asyncProperty(SIZES, steps, async ({ slots, slotsPerClient, capacity, totalMb }, script) => {
      const queue = new FairQueue(slots, capacity, slotsPerClient);
      queue.totalMemoryMb = totalMb;
      const model = new Model(slots, capacity, totalMb, slotsPerClient);
      const leaves = new Map<number, () => void>();
      const aborts = new Map<number, AbortController>();
      const gone = new Map<number, unknown>();
      for (const [run, step] of script.entries()) {
        if (step.do === 'arrive') {
          const abort = new AbortController();
          aborts.set(run, abort);
          queue.enter(step.client, abort.signal, step.memoryMb).then(
            (leave) => leaves.set(run, leave),
            (error: unknown) => gone.set(run, error),
          );
          const refused = model.arrive(step.client, run, step.memoryMb);
          await settled();
          if (refused !== undefined) expect((gone.get(refused) as PungiError).code).toBe('SERVER_BUSY');
        } else if (step.do === 'leave') {
          const run = model.active[0];
          if (run === undefined) continue;
          model.leave(run);
          leaves.get(run)!();
          leaves.get(run)!(); // twice is once
          leaves.delete(run);
        } else {
          const waiting = model.waiting;
          const run = waiting[step.which % Math.max(1, waiting.length)];
          if (run === undefined) continue;
          model.giveUp(run);
          aborts.get(run)!.abort('no longer');
          await settled();
          expect(gone.get(run)).toBe('no longer');
        }
        await settled();
        expect([...leaves.keys()].sort()).toEqual([...model.active].sort());
        expect({ active: queue.active, waiting: queue.waiting }).toEqual({
          active: model.active.length,
          waiting: model.waiting.length,
        });
      }
    }),
    { numRuns: 150 },
  );
});

test('a client with many runs does not keep another one with a single run waiting for all of them', async () => {
  const queue = new FairQueue(1, 100);
  const order: string[] = [];
  const finished: Promise<void>[] = [];
  const enter = (client: string) =>
    finished.push(
      queue.enter(client).then((leave) => {
        order.push(client);
        leave();
      }),
    );
  const leaveFirst = await queue.enter('greedy');
  for (let n = 0; n < 5; n += 1) enter('greedy');
  enter('modest');
  leaveFirst();
  await Promise.all(finished);
  expect(order.slice(0, 2).sort()).toEqual(['greedy', 'modest']);
});

test('a client that holds all of its slots keeps one free for others, who need not wait behind its next runs', async () => {
  const queue = new FairQueue(3, 10, 2);
  await queue.enter('greedy');
  const leaveSecond = await queue.enter('greedy');
  const order: string[] = [];
  const third = queue.enter('greedy', undefined, 1).then(() => order.push('greedy'));
  const modest = queue.enter('modest', undefined, 1).then(() => order.push('modest'));
  await modest;
  expect({ order, active: queue.active, waiting: queue.waiting }).toEqual({
    order: ['modest'],
    active: 3,
    waiting: 1,
  });
  leaveSecond();
  await third;
});

test('a client that fills the queue keeps no other one out of it', async () => {
  const queue = new FairQueue(1, 4);
  const leaveFirst = await queue.enter('greedy');
  const order: string[] = [];
  const enter = (client: string) =>
    queue.enter(client).then(
      (leave) => {
        order.push(client);
        leave();
      },
      (error: PungiError) => error.code,
    );
  const greedy = Array.from({ length: 4 }, () => enter('greedy'));
  const others = [enter('modest'), enter('modest'), enter('modest')];
  leaveFirst();
  expect(await Promise.all(greedy)).toEqual([undefined, undefined, 'SERVER_BUSY', 'SERVER_BUSY']);
  expect(await Promise.all(others)).toEqual([undefined, undefined, 'SERVER_BUSY']);
  expect(order).toEqual(['greedy', 'modest', 'greedy', 'modest']);
});

test('a run that waits for memory keeps nobody waiting who needs none of it', async () => {
  const queue = new FairQueue(3, 10);
  queue.totalMemoryMb = 10;
  const leaveFirst = await queue.enter('greedy', undefined, 6);
  const order: string[] = [];
  const second = queue.enter('greedy', undefined, 6).then(() => order.push('greedy'));
  const modest = queue.enter('modest').then(() => order.push('modest'));
  await settled();
  expect(order).toEqual(['modest']);
  leaveFirst();
  await Promise.all([second, modest]);
});

test('an aborted signal is noticed even if it was aborted before the wait', async () => {
  const queue = new FairQueue(1, 10);
  await queue.enter('a');
  const outcome = queue.enter('b', AbortSignal.abort('too late')).catch((error: unknown) => error);
  await settled();
  expect(queue.waiting).toBe(0);
  expect(await Promise.race([outcome, settled().then(() => 'still waiting')])).toBe('too late');
});
