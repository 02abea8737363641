import { describe, expect, test } from 'vitest';
import { machineMemoryMb } from '../../src/base/machine-memory.js';
import { loadConfig } from '../../src/config/load.js';
import { LimitRules } from '../../src/gate/limits.js';

const rules = (env: Record<string, string> = {}) => new LimitRules(loadConfig({ env }));

describe('without settings', () => {
  test('a run that asks for nothing gets what it always got', () => {
    const { limits, lowered } = rules().grant(null);
    expect(limits).toMatchObject({
      timeoutMs: 30_000,
      cpuMs: 30_000,
      memoryMb: 512,
      processes: 64,
      diskMb: 64,
    });
    expect(lowered).toEqual([]);
  });

  test('the ceilings are five minutes, a quarter of the machine, a gigabyte and 512 tasks', () => {
    const memoryMb = Math.max(512, Math.floor(machineMemoryMb() / 4));
    expect(rules().ceilings).toMatchObject({ timeoutMs: 300_000, memoryMb, diskMb: 1024, processes: 512 });
  });
});

describe('a request', () => {
  const { grant } = bound({ MAX_REQUEST_MEMORY_MB: '2000' });

  test('may raise a limit up to the ceiling, and lower it', () => {
    const { limits, lowered } = grant(null, {
      timeoutMs: 300_000,
      memoryMb: 2000,
      diskMb: 1,
      processes: 512,
    });
    expect(limits).toMatchObject({ timeoutMs: 300_000, memoryMb: 2000, diskMb: 1, processes: 512 });
    expect(lowered).toEqual([]);
  });

  test('above the ceiling is lowered to it, which is said with the setting', () => {
    const { limits, lowered } = grant(null, { timeoutMs: 900_000, memoryMb: 4000, openFiles: 9999 });
    expect(limits).toMatchObject({ timeoutMs: 300_000, memoryMb: 2000, openFiles: 256 });
    expect(lowered).toEqual([
      "timeoutMs was lowered from 900000 to 300000, the server's MAX_REQUEST_TIMEOUT_MS.",
      "memoryMb was lowered from 4000 to 2000, the server's MAX_REQUEST_MEMORY_MB.",
      "openFiles was lowered from 9999 to 256, the server's MAX_OPEN_FILES.",
    ]);
  });

  test('for more time gets as much more CPU time, unless it names that, too', () => {
    expect(grant(null, { timeoutMs: 90_000 }).limits.cpuMs).toBe(90_000);
    expect(grant(null, { timeoutMs: 90_000, cpuMs: 1000 }).limits.cpuMs).toBe(1000);
    expect(grant(null, { timeoutMs: 1000 }).limits.cpuMs).toBe(30_000);
    const scarce = rules({ MAX_CPU_MS: '3000' });
    expect(scarce.grant(null, { timeoutMs: 60_000 }).limits.cpuMs).toBe(6000);
  });

  test('never goes beyond a limit of its profile', () => {
    const profile = { name: 'narrow', limits: { timeoutMs: 10_000, memoryMb: 9999 } };
    expect(grant(profile).limits).toMatchObject({ timeoutMs: 10_000, memoryMb: 512, cpuMs: 30_000 });
    const { limits, lowered } = grant(profile, { timeoutMs: 20_000, memoryMb: 600, diskMb: 100 });
    expect(limits).toMatchObject({ timeoutMs: 10_000, memoryMb: 512, diskMb: 100 });
    expect(lowered[0]).toBe('timeoutMs was lowered from 20000 to 10000, the limit of the profile "narrow".');
  });
});

test('a default above its ceiling is the ceiling; all runs together bound each of them', () => {
  expect(rules({ EXECUTION_TIMEOUT_MS: '600000' }).ceilings.timeoutMs).toBe(600_000);
  expect(rules({ MAX_TOTAL_MEMORY_MB: '700', MAX_REQUEST_MEMORY_MB: '900' }).ceilings.memoryMb).toBe(700);
});

function bound(env: Record<string, string>) {
  const made = rules(env);
  return { grant: made.grant.bind(made) };
}
