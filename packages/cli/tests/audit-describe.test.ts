import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../core/src/contract/audit.js';
import { aDenial, aRun } from '../../core/tests/audit/fixtures/records.js';
import { describe as tell } from '../src/audit/describe.js';
import { whatOf } from '../src/audit/list.js';

const POSITION = { seq: 7, time: new Date().toISOString(), prevHash: '', hash: '' };
const plain = (_: string, text: string) => text;
const shown = (record: object) => tell({ ...record, ...POSITION } as AuditEntry, plain);

describe('an entry in words', () => {
  test('has limits, usage and isolation as people say them, in lines that fit', () => {
    const text = shown(aRun());
    expect(text).toContain('30.0 s in all, 30.0 s CPU, 512 MB memory, 64 MB disk,');
    expect(text).toContain('Usage           1 ms in all, 1 ms CPU, 13 MB memory\n');
    expect(text).toContain('namespace, user-namespace, seccomp, landlock\n');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('tells what a forger put in the place of them', () => {
    const run = aRun();
    expect(shown({ ...run, data: { ...run.data, isolation: { tier: 'none' } } })).toContain('tier none');
  });

  test('has a line for each violation', () => {
    const denial = aDenial();
    const violations = [
      { line: 3, column: 5, rule: 'import', what: 'socket', message: 'No socket.' },
      { line: null, column: null, rule: 'import', what: 'os', message: 'No os.' },
    ];
    const text = shown({ ...denial, data: { ...denial.data, details: { violations } } });
    expect(text).toContain('  Violations\n    line 3:5  No socket.\n    No os.\n');
  });

  test('tells of settings only what changed, and cuts what is long', () => {
    const settings = { maxMemoryMb: 256, packages: ['x'.repeat(500)], uv: 'uv' };
    const record = { kind: 'configuration', client: 'pungi', token: null };
    const { uv: _, ...after } = settings;
    const before = { maxMemoryMb: 512, packages: [] };
    const data = { change: 'maxMemoryMb, packages', before, after, settings };
    const text = shown({ ...record, data });
    expect(text).toContain('  Changes\n    maxMemoryMb: 512 → 256\n    packages: [] → ["xxx');
    expect(text).not.toContain('uv');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(140);
    const first = shown({ ...record, data: { ...data, before: null, after: settings } });
    expect(first).toContain('    uv: "uv"\n');
  });
});

test.each([
  ['create', { pythonVersion: '3.12', requested: ['numpy', 'pandas<3'] }, 'create numpy pandas<3'],
  ['clone', { from: 'ml' }, 'clone from ml'],
  ['clean', { reason: 'unused' }, 'clean (unused)'],
  ['delete', {}, 'delete'],
])('the line of an environment that was changed (%s) says with what', (action, details, line) => {
  const data = { environment: 'ml', action, environmentLock: null, details };
  const entry = { kind: 'environment', client: 'cli', token: null, data, ...POSITION } as AuditEntry;
  expect(whatOf(entry)).toBe(line);
});
