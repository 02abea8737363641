import { describe, expect, test } from 'vitest';
import { type RunFacts, runRecord } from '../../src/audit/run-facts.js';
import type { AuditEntry } from '../../src/contract/audit.js';
import { RunRequest } from '../../src/contract/run.js';
import { compareReplay, replayRequest } from '../../src/pungi/replay.js';
import { someFacts } from './fixtures/outcomes.js';
import { aDenial } from './fixtures/records.js';

const POSITION = { seq: 7, time: new Date().toISOString(), prevHash: '', hash: '' };
const entryOf = (facts: RunFacts): AuditEntry => ({ ...runRecord(facts), ...POSITION });
const changed = (facts: RunFacts, data: Record<string, unknown>) => {
  const entry = entryOf(facts);
  return { ...entry, data: { ...entry.data, ...data } } as AuditEntry;
};
const nothingRan = { isolation: { tier: null, features: [] } };

describe('the request of an entry', () => {
  test('is what was asked for, for whoever asks now, and one that the gate takes', () => {
    const inputs = {
      filename: 'report.py',
      argv: ['-v'],
      inputData: ['1', '2'],
      files: [{ path: 'a.txt', text: 'A' }],
      env: { MODE: 'x' },
      context: { rows: [1, 2] },
      venvName: 'ml',
    };
    const facts = someFacts({ inputs, client: 'ann', outcome: { profile: 'strict' } });
    const request = replayRequest(entryOf(facts));
    const expected = { code: 'print(1)', ...inputs, limits: facts.limits, profile: 'strict' };
    expect(request).toEqual(expected);
    expect(RunRequest.parse(JSON.parse(JSON.stringify(request)))).toEqual(expected);
  });

  test.each<[string, AuditEntry, string]>([
    ['that is no run', { ...aDenial(), ...POSITION }, 'expected a run, got an entry of the kind "denial"'],
    ['whose code was not kept', changed(someFacts(), { code: null }), 'AUDIT_STORE_CODE'],
    ['that ran nothing', entryOf(someFacts({ outcome: nothingRan })), 'nothing was run then'],
    ['whose code was changed', changed(someFacts(), { code: 'print(2)' }), 'does not have its hash'],
  ])('%s is refused', (_, entry, words) => {
    expect(() => replayRequest(entry)).toThrow(words);
    expect(() => replayRequest(entry)).toThrow(/[Ee]ntry 7/);
  });
});

describe('a comparison', () => {
  const facts = someFacts();
  const entry = entryOf(facts);
  const { outcome } = facts;

  test('finds the same output the same, whatever else differs', () => {
    const now = {
      ...outcome,
      runId: 'other',
      usage: { ...outcome.usage, wallMs: 77 },
      environment: 'made-again',
    };
    expect(compareReplay(entry, now)).toEqual({ same: true, differences: [] });
  });

  test('says that the output is another', () => {
    const now = { ...outcome, stdout: { ...outcome.stdout, text: '2\n' } };
    expect(compareReplay(entry, now)).toEqual({
      same: false,
      differences: [expect.stringContaining('its output or its value differs')],
    });
  });

  test('says that it ended in another way, and how', () => {
    const verdict = {
      kind: 'timed-out' as const,
      code: 'EXECUTION_TIMEOUT' as const,
      message: 'It took longer.',
      limitMs: 1,
    };
    expect(compareReplay(entry, { ...outcome, verdict }).differences).toEqual([
      'It ended as "ok" then, and as "timed-out" now: It took longer.',
    ]);
  });

  test('says that it was not run again, and why', () => {
    const verdict = {
      kind: 'denied' as const,
      code: 'DENIED' as const,
      message: 'There is no profile "gone".',
      reason: '',
    };
    expect(compareReplay(entry, { ...outcome, ...nothingRan, verdict })).toEqual({
      same: false,
      differences: ['It was not run again: There is no profile "gone".'],
    });
  });
});
