import { expect, test } from 'vitest';
import { ClientTurns } from '../src/http/client-turns.js';

/**
 * Takes a turn for each of these at once: a letter is a session, a capital one with a large request, a digit a connection that
 * begins a session, a digit with a stroke one of the protocol without sessions. Returns the order of their turns.
 */
async function order(requests: string): Promise<string> {
  const turns = new ClientTurns();
  const members = new Map(requests.split(' ').map((name) => [name, { name }]));
  const taken: string[] = [];
  await Promise.all(
    requests.split(' ').map(async (name) => {
      const member = members.get(name)!;
      if (/[a-z]/.test(name)) await turns.takeAs(member);
      else await turns.takeAmong(kindOf(name), member);
      taken.push(name);
    }),
  );
  return taken.join(' ');
}

const kindOf = (name: string) => (/[A-Z]/.test(name) ? 'large' : name.endsWith("'") ? 'modern' : 'new');

test('a session that sends much takes turns with those that send little', async () => {
  expect(await order('a a a a b')).toBe('a a b a a');
  expect(await order('a a a b b c')).toBe('a a b c a b');
});

test('of those that wait, the session that was served longest ago goes first', async () => {
  const turns = new ClientTurns();
  const [rare, busy] = [{ name: 'rare' }, { name: 'busy' }];
  for (const session of [rare, busy, busy]) await turns.takeAs(session);
  const taken: string[] = [];
  const take = (session: { name: string }) => turns.takeAs(session).then(() => void taken.push(session.name));
  await Promise.all([busy, busy, rare, rare].map(take));
  expect(taken).toEqual(['rare', 'busy', 'rare', 'busy']);
});

test('connections that are new do not overtake one that was served before they came', async () => {
  const turns = new ClientTurns();
  const known = { name: 'known' };
  const taken: string[] = [];
  const take = (connection: { name: string }) =>
    turns.takeAmong('modern', connection).then(() => void taken.push(connection.name));
  await turns.takeAmong('modern', known);
  await Promise.all([take({ name: 'new' }), take({ name: 'new' }), take(known), take({ name: 'new' })]);
  expect(taken).toEqual(['known', 'new', 'new', 'new']);
});

test('connections without a session take turns with each other', async () => {
  expect(await order('1 1 1 1 2')).toBe('1 1 2 1 1');
  expect(await order("1' 1' 1' 1' 2'")).toBe("1' 1' 2' 1' 1'");
});

test('all that begin a session take turns with the sessions as one of them', async () => {
  expect(await order('1 2 3 4 5 a a')).toBe('1 2 a 3 a 4 5');
});

test('all with large requests take turns with the sessions as one of them', async () => {
  expect(await order('A B C D a a b')).toBe('A B a b C a D');
});

test('those that begin a session do not hold up the protocol without sessions', async () => {
  expect(await order("1 2 3 4 5 6'")).toBe("1 2 6' 3 4 5");
});

/** The turns of the event loop in which ten steps are taken that last so long each. */
async function turnsOf(lasting: number): Promise<number[]> {
  let [now, turn] = [0, 0];
  const turns = new ClientTurns(() => now);
  const count = () => {
    turn += 1;
    if (turn < 20) setImmediate(count);
  };
  const take = async () => {
    await turns.takeAs({});
    now += lasting;
    return turn;
  };
  const taken = Array.from({ length: 10 }, take);
  setImmediate(count);
  return Promise.all(taken);
}

test('short steps share a turn of the event loop, and nobody waits for the first one', async () => {
  expect(await turnsOf(0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test('a long step ends the turn of the event loop', async () => {
  expect(await turnsOf(10)).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await turnsOf(2)).toEqual([0, 0, 0, 1, 1, 2, 2, 3, 3, 4]);
});

test('a step is free again once nothing waits', async () => {
  const turns = new ClientTurns();
  await turns.takeAs({});
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  let isNext = true;
  process.nextTick(() => {
    isNext = false;
  });
  await turns.takeAs({});
  expect(isNext).toBe(true);
});
