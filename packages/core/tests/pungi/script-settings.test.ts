import { expect, test } from 'vitest';
import { configForScripts } from '../../../harness/src/validate/python-engine.js';

const LOW = { MAX_MEMORY_MB: '64', EXECUTION_TIMEOUT_MS: '1000', MAX_CPU_MS: '1000' };
const of = (env: Record<string, string> = {}, ...memory: (number | undefined)[]) =>
  configForScripts(
    { env },
    memory.map((memoryLimitMb) => (memoryLimitMb === undefined ? {} : { memoryLimitMb })),
  );

test('what scripts are granted is no less than what they ask for', () => {
  expect(of(LOW, 700.5, 40)).toMatchObject({
    maxMemoryMb: 701,
    executionTimeoutMs: 600_000,
    maxCpuMs: 600_000,
  });
  expect(of(LOW, undefined).maxMemoryMb).toBe(256);
  expect(of(LOW).maxMemoryMb).toBe(64);
});

test('what is configured to be more stays so, and so does the rest', () => {
  const config = of({ MAX_MEMORY_MB: '4000', MAX_DISK_MB: '7', EXECUTION_TIMEOUT_MS: '900000' }, 300);
  expect(config).toMatchObject({ maxMemoryMb: 4000, maxDiskMb: 7, executionTimeoutMs: 900_000 });
});

test('the profile of callers is not that of scripts', () => {
  const narrow = of({ DEFAULT_PROFILE: 'strategic', ALLOWED_PROFILES: 'strategic' });
  expect(narrow).toMatchObject({ defaultProfile: 'default', allowedProfiles: ['default'] });
});

test('scripts are recorded only where that is asked for', () => {
  expect(of().audit).toBe(false);
  expect(of({ AUDIT: 'false' }).audit).toBe(false);
  expect(of({ AUDIT: 'true' }).audit).toBe(true);
  expect(configForScripts({ env: {}, flags: { audit: true } }, []).audit).toBe(true);
});
