import { expect, test } from 'vitest';
import { check } from './checker.js';
import type { Answered, History, Requested, WorkerTrail } from './history.js';

type Entry = WorkerTrail['entries'][number];

const REQUEST: Requested = {
  id: 'a',
  code: 'code-a',
  retry: false,
  isCancelled: false,
  inSession: false,
  stdout: 'out-a',
};
const OK: Answered = {
  id: 'a',
  run: 'run-a',
  verdict: { kind: 'ok' },
  stdout: 'out-a',
  wasDisturbed: false,
};
const place = { run: 'run-a', claim: 'c1', front: 'f', incarnation: 'i1' };
const START: Entry = { event: 'started', ...place, code: 'code-a' };
const END: Entry = { event: 'ended', ...place, stdout: 'out-a', status: 0, killedFor: null };

interface Given {
  requested?: Partial<Requested>;
  answered?: Partial<Answered>[];
  orphans?: string[];
  trails?: Entry[][];
  left?: string[];
}

function verdictOn(given: Given): string[] {
  const { requested, answered = [{}], orphans = [], trails = [[START, END]], left = [] } = given;
  const history: History = {
    requested: [{ ...REQUEST, ...requested }],
    answered: answered.map((one) => ({ ...OK, ...one })),
    orphans,
    trails: trails.map((entries, n) => ({ worker: `w${n}`, entries })),
    left,
  };
  return check(history);
}

const lost = (started: boolean | null): Partial<Answered> => ({ verdict: { kind: 'lost', started } });
const elsewhere = { run: 'run-b', claim: 'c2', incarnation: 'i2' };

const GOOD: Record<string, Given> = {
  'a run that ended well': {},
  'a run that failed': {
    answered: [{ verdict: { kind: 'exited' } }],
    trails: [[START, { ...END, status: 3 }]],
  },
  'a run that was ended at its deadline': {
    answered: [{ verdict: { kind: 'timed-out' } }],
    trails: [[START, { ...END, status: null, killedFor: 'timeout' }]],
  },
  'a run that was lost after its start': { answered: [lost(true)], trails: [[START], []] },
  'a run that was lost before its start': { answered: [lost(false)], trails: [[]] },
  'a run whose worker was cut off before it confirmed the start': {
    answered: [{ ...lost(null), wasDisturbed: true }],
  },
  'a run that was begun again at the wish of its caller': {
    requested: { retry: true },
    answered: [{ run: 'run-b' }],
    trails: [
      [START],
      [
        { ...START, ...elsewhere },
        { ...END, ...elsewhere },
      ] as Entry[],
    ],
  },
  'code that was compiled before it ran': {
    trails: [[{ ...START, run: 'compile-a', task: 'compile' } as Entry, START, END]],
  },
  'a run that its worker ended after its front end was killed': {
    ...{ answered: [], orphans: ['a'] },
    trails: [[START, { ...END, event: 'abandoned' } as Entry]],
  },
  'a run whose front end and worker were killed': {
    ...{ answered: [], orphans: ['a'] },
    trails: [[START, { ...START, ...elsewhere, task: 'check' } as Entry]],
  },
  'a cancelled run that never started': {
    requested: { isCancelled: true },
    answered: [{ verdict: { kind: 'cancelled' } }],
    trails: [],
  },
};

const BAD: Record<string, [Given, string]> = {
  'a run that two workers started': [
    { trails: [[START, END], [{ ...START, ...elsewhere } as Entry]] },
    'a was started 2 times',
  ],
  'a run id that was started twice, although it may be repeated': [
    { requested: { retry: true }, trails: [[START, END, START]] },
    'run run-a was started twice',
  ],
  'a request without an answer': [{ answered: [] }, 'a was answered 0 times'],
  'a request with two answers': [{ answered: [{}, {}] }, 'a was answered 2 times'],
  'a run that goes on after its front end was killed': [
    { answered: [], orphans: ['a'], trails: [[START]] },
    'a was not ended',
  ],
  'a run that was started again after its front end was killed': [
    {
      ...{ answered: [], orphans: ['a'] },
      trails: [
        [START, END],
        [
          { ...START, ...elsewhere },
          { ...END, ...elsewhere },
        ] as Entry[],
      ],
    },
    'a was started 2 times',
  ],
  'an answer that nobody requested': [{ answered: [{}, { id: 'b' }] }, 'b was answered and not requested'],
  'a start that nobody requested': [
    { trails: [[START, END, { ...START, ...elsewhere, code: 'code-b' } as Entry]] },
    'nobody requested code-b',
  ],
  'ok without a start': [{ trails: [[]] }, 'a (ok): no trail has its start'],
  'ok without an end': [{ trails: [[START]] }, 'a (ok): the trail with its start lacks its end'],
  'ok with the end of another start of the worker': [
    { trails: [[START, { ...END, incarnation: 'i2' }]] },
    'a (ok): the trail with its start lacks its end',
  ],
  'ok although the worker abandoned it': [
    { trails: [[START, { ...END, event: 'abandoned' } as Entry]] },
    'a (ok): its worker abandoned it',
  ],
  'ok although it failed': [
    { trails: [[START, { ...END, status: 1 } as Entry]] },
    'a (ok): its worker saw another end',
  ],
  'output that was changed on the way': [
    { trails: [[START, { ...END, stdout: 'other' } as Entry]] },
    'a (ok): its worker saw other output',
  ],
  'a session that forgot an acknowledged run': [
    { answered: [{ stdout: 'older' }], trails: [[START, { ...END, stdout: 'older' } as Entry]] },
    'a (ok): its output is not what its code prints',
  ],
  'a deadline that the worker did not see': [
    { answered: [{ verdict: { kind: 'timed-out' } }] },
    'a (timed-out): its worker saw another end',
  ],
  'lost after a start that nobody saw': [
    { answered: [lost(true)], trails: [[]] },
    'a (lost, true): no trail has its start',
  ],
  'lost before a start that a trail has': [
    { answered: [lost(false)] },
    'a (lost, false): a trail has its start',
  ],
  'lost before its start, which another worker has': [
    { answered: [lost(false)], trails: [[{ ...START, ...elsewhere } as Entry]] },
    'a (lost, false): a trail has a start of its code',
  ],
  'lost for no reason': [
    { answered: [lost(null)] },
    'a (lost, null): whether it had started was to be known',
  ],
  'busy although it was started': [
    { answered: [{ verdict: { kind: 'busy' } }] },
    'a (busy): a trail has its start',
  ],
  'cancelled by nobody': [
    { answered: [{ verdict: { kind: 'cancelled' } }] },
    'a (cancelled): nobody cancelled it',
  ],
  'an error of the server': [
    { answered: [{ verdict: { kind: 'internal', message: 'broken' } }] },
    'a (internal): no request should end so: broken',
  ],
  'a process that is left': [{ left: ['17 python3'] }, 'the process 17 python3 is left'],
};

test.each(Object.entries(GOOD))('the checker accepts %s', (_, given) => {
  expect(verdictOn(given)).toEqual([]);
});

test.each(Object.entries(BAD))('the checker refuses %s', (_, [given, sentence]) => {
  expect(verdictOn(given)).toEqual([sentence]);
});
