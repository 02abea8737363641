import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { Garbage } from '../src/garbage.js';

/** Counts collections. */
function counting(): { garbage: Garbage; collected: () => number } {
  let count = 0;
  const garbage = new Garbage(() => {
    count += 1;
  });
  return { garbage, collected: () => count };
}

const calls = async (garbage: Garbage, number: number) => {
  for (let n = 0; n < number; n += 1) await garbage.during(async () => n);
};

test('garbage is collected between calls, when there were some', async () => {
  const { garbage, collected } = counting();
  await calls(garbage, 15);
  expect(await garbage.during(async () => 'reply')).toBe('reply');
  await until(() => collected() === 1, 'it is collected');
  await calls(garbage, 40);
  await until(() => collected() === 2, 'it is collected again, once for all of them');
});

test('not while a call is under way, but when it has ended, however', async () => {
  const { garbage, collected } = counting();
  let end: (error: Error) => void = () => {};
  const long = garbage.during(() => new Promise((_, reject) => (end = reject)));
  await calls(garbage, 40);
  // Timers of the same length fire in their order.
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(collected()).toBe(0);
  end(new Error('failed'));
  await expect(long).rejects.toThrow('failed');
  await until(() => collected() === 1, 'it is collected');
});
