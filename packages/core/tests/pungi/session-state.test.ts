import { describe, expect, test } from 'vitest';
import type { Outcome, Pungi } from '../../../pungi/src/index.js';
import { SANDBOXES, sharedPungis, verdictOf } from '../engine/pungi.js';
import { FILES } from './file-snippets.js';
import { type Call, STATE } from './session-snippets.js';

const pungis = sharedPungis({ MAX_SESSIONS_PER_CALLER: '64', MAX_SESSIONS: '64' });

function check(call: Call, outcome: Outcome): void {
  const { prints, stderr = '', is, fails, exits, timesOut, traceback, leaves } = call;
  if (fails !== undefined) expect(verdictOf(outcome, 'python-error').exception.type).toBe(fails);
  else if (exits !== undefined) expect(verdictOf(outcome, 'exited').status).toBe(exits);
  else if (timesOut) verdictOf(outcome, 'timed-out');
  else expect(outcome.verdict).toEqual({ kind: 'ok' });
  if (traceback) expect(verdictOf(outcome, 'python-error').exception.traceback).toMatch(traceback);
  if (prints !== undefined) expectText(outcome.stdout.text, prints);
  expectText(outcome.stderr.text, stderr);
  if (is !== undefined) expect(outcome.value?.json).toEqual(is);
  if (leaves !== undefined) expect((outcome.artifacts ?? []).map(({ path }) => path).sort()).toEqual(leaves);
}

function expectText(text: string, expected: string | RegExp): void {
  if (typeof expected === 'string') expect(text).toBe(expected);
  else expect(text).toMatch(expected);
}

async function play(pungi: Pungi, calls: readonly (string | Call)[]): Promise<void> {
  let session = 'new';
  for (const each of calls) {
    const call = typeof each === 'string' ? { code: each } : each;
    const { prints, stderr, is, fails, exits, timesOut, traceback, leaves, ...request } = call as Call;
    const outcome = await pungi.run({ ...request, session });
    check(call, outcome);
    expect(outcome.session?.alive).toBe(true);
    session = outcome.session!.id;
  }
  pungi.endSession(session);
}

describe.each(SANDBOXES)('in the %s tier', (tier) => {
  describe('a session keeps', () => {
    test.each(STATE)('%s', (_, ...calls) => play(pungis[tier], calls));
  });

  describe('files of calls:', () => {
    test.each(FILES)('%s', (_, ...calls) => play(pungis[tier], calls));
  });
});
