import { expect, test } from 'vitest';
import { RunConnections } from '../../src/network/run-connections.js';
import { NetworkRefusals } from '../../src/pungi/network-refusals.js';

const host = (text: string) => ({ host: { kind: 'name', text }, port: 443 }) as const;

function network(): { refusals: NetworkRefusals; run: RunConnections } {
  const refusals = new NetworkRefusals();
  return { refusals, run: new RunConnections('run', (decision) => refusals.note(decision)) };
}

test('what a run was refused is told once, and what it was allowed is not', () => {
  const { refusals, run } = network();
  run.record(host('good.example'), null);
  run.record(host('evil.example'), 'not listed');
  run.record(host('evil.example'), 'not listed');
  expect(refusals.take('run')).toEqual([{ what: 'evil.example:443', reason: 'not listed' }]);
  expect(refusals.take('run')).toEqual([]);
  expect(refusals.take('another')).toEqual([]);
});

test('a run that asked for too many hosts is recorded as that, with the number of those that are left out', () => {
  const { refusals, run } = network();
  for (let number = 0; number <= 1000; number += 1) run.record(host(`h${number}.example`), 'not listed');
  run.record(host('after.example'), 'not listed');
  const told = refusals.take('run');
  expect(told.slice(0, 3)).toEqual([
    {
      what: 'h1000.example:443',
      reason: 'The run asked for too many different hosts and lost its network.',
    },
    {
      what: '902 more hosts',
      reason: 'The run was refused these as well; only the first 98 are recorded by name.',
    },
    { what: 'h0.example:443', reason: 'not listed' },
  ]);
  // The audit trail keeps a hundred of a run.
  expect(told).toHaveLength(100);
});

test('that a run moved too much is told, also of a host that refused it something before', () => {
  const { refusals, run } = network();
  for (let number = 0; number < 150; number += 1) run.record(host(`h${number}.example`), 'not listed');
  run.count(host('h7.example'), 2 * 1024 ** 3);
  const told = refusals.take('run');
  expect(told[0]).toEqual({
    what: 'h7.example:443',
    reason: 'The run moved more than 1024 MB and lost its network.',
  });
  expect(told.filter(({ what }) => what === 'h7.example:443')).toHaveLength(1);
});
