import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { type ConfigSources, loadConfig } from '../../src/config/load.js';
import { Config, OPTIONS, type OptionName } from '../../src/config/schema.js';

/** A valid value of each option that is not its default, as text and as the parsed value. */
const OTHER_VALUES: Record<OptionName, [text: string, value: unknown]> = {
  maxMemoryMb: ['256', 256],
  maxTotalMemoryMb: ['4096', 4096],
  executionTimeoutMs: ['1234', 1234],
  maxConcurrentExecutions: ['2', 2],
  maxConcurrentPerClient: ['2', 2],
  maxQueuedExecutions: ['0', 0],
  artifactMb: ['0', 0],
  artifactTotalMb: ['64', 64],
  artifactHours: ['1', 1],
  artifactDir: ['/srv/artifacts', '/srv/artifacts'],
  maxSessions: ['3', 3],
  maxSessionsPerCaller: ['2', 2],
  sessionIdleMs: ['60000', 60_000],
  sessionLifetimeMs: ['3600000', 3_600_000],
  maxBackgroundRuns: ['3', 3],
  maxBackgroundPerCaller: ['2', 2],
  maxBackgroundTimeoutMs: ['600000', 600_000],
  backgroundHours: ['1', 1],
  backgroundMb: ['64', 64],
  backgroundDir: ['/srv/runs', '/srv/runs'],
  maxCpuMs: ['777', 777],
  maxProcesses: ['3', 3],
  maxOpenFiles: ['32', 32],
  maxDiskMb: ['8', 8],
  maxOutputBytes: ['2048', 2048],
  maxOutputHardBytes: ['4096', 4096],
  replyChars: ['5000', 5000],
  replyImageBytes: ['1000', 1000],
  replyDetail: ['full', 'full'],
  outputStoreMb: ['8', 8],
  outputStoreSeconds: ['60', 60],
  poolSize: ['1', 1],
  preloadModules: ['json, decimal', ['json', 'decimal']],
  preloadTimeoutMs: ['5000', 5000],
  learnPreloads: ['false', false],
  shareServer: ['false', false],
  idleTimeoutMs: ['2000', 2000],
  allowedEnv: ['TZ LANG', ['TZ', 'LANG']],
  scriptRoots: ['/srv/a:/srv/b', ['/srv/a', '/srv/b']],
  dataRoots: ['/srv/c:/srv/d', ['/srv/c', '/srv/d']],
  preinstalledPackages: ['numpy pandas', ['numpy', 'pandas']],
  venvsBasePath: ['/srv/environments', '/srv/environments'],
  defaultVenvName: ['main', 'main'],
  systemPackages: ['true', true],
  environmentTools: ['false', false],
  maxRequestTimeoutMs: ['60000', 60_000],
  maxRequestMemoryMb: ['1024', 1024],
  maxRequestDiskMb: ['256', 256],
  maxRequestProcesses: ['128', 128],
  autoInstall: ['true', true],
  packageTimeoutMs: ['60000', 60_000],
  packageSources: ['url sdist', ['url', 'sdist']],
  maxEnvironments: ['3', 3],
  maxEnvironmentMb: ['100', 100],
  maxWarmEnvironments: ['2', 2],
  uv: ['/opt/uv', '/opt/uv'],
  toolsDir: ['/tools', '/tools'],
  toolsets: ['run, health', ['run', 'health']],
  wrapTools: ['true', true],
  python: ['/opt/python', '/opt/python'],
  tier: ['landlock', 'landlock'],
  cgroups: ['off', 'off'],
  allowUnsandboxed: ['true', true],
  cacheDir: ['/var/cache/pungi', '/var/cache/pungi'],
  profilesFile: ['/etc/pungi/profiles.yaml', '/etc/pungi/profiles.yaml'],
  defaultProfile: ['strategic', 'strategic'],
  allowedProfiles: ['diego, rachel', ['diego', 'rachel']],
  resultCacheMb: ['0', 0],
  audit: ['false', false],
  auditDir: ['/var/lib/audit', '/var/lib/audit'],
  auditSync: ['full', 'full'],
  auditStoreCode: ['false', false],
  auditRetentionDays: ['90', 90],
  auditMaxMb: ['64', 64],
  auditWhenFull: ['refuse', 'refuse'],
  alertLatencyMs: ['0', 0],
  alertFailureRate: ['5', 5],
  alertMemoryMb: ['2048', 2048],
  alertQueue: ['7', 7],
  alertWindowMs: ['60000', 60_000],
  alertWebhook: ['https://alerts.example.com/hook', 'https://alerts.example.com/hook'],
  cluster: ['nats://10.0.0.1:4222,tls://nats.example:4222', 'nats://10.0.0.1:4222,tls://nats.example:4222'],
  clusterName: ['blue', 'blue'],
  creds: ['/etc/pungi/front', '/etc/pungi/front'],
  workerName: ['worker-1', 'worker-1'],
  workerLabels: ['gpu=true,zone=a', ['gpu=true', 'zone=a']],
  workerDiskMb: ['5000', 5000],
  logLevel: ['debug', 'debug'],
  logFormat: ['text', 'text'],
  logFile: ['/var/log/pungi.log', '/var/log/pungi.log'],
};
const NAMES = Object.keys(OPTIONS) as OptionName[];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileWith = (text: string): string => {
  const path = join(folder, 'settings.yaml');
  writeFileSync(path, text);
  return path;
};
const load = (sources: ConfigSources) => loadConfig({ env: {}, ...sources });
const problemOf = (sources: ConfigSources): string => {
  try {
    load(sources);
  } catch (error) {
    expect(error).toBeInstanceOf(PungiError);
    expect((error as PungiError).code).toBe('CONFIGURATION_ERROR');
    return (error as PungiError).message;
  }
  throw new Error('the configuration was accepted');
};

test('nothing set gives the defaults that clients of earlier servers know', () => {
  expect(load({})).toMatchObject({
    maxMemoryMb: 512,
    executionTimeoutMs: 30_000,
    maxConcurrentExecutions: 5,
    preinstalledPackages: [],
    logLevel: 'info',
    logFormat: 'json',
    tier: 'auto',
    allowUnsandboxed: false,
  });
});

describe.each(NAMES)('%s', (name) => {
  const { env } = OPTIONS[name];
  const [text, value] = OTHER_VALUES[name];

  test(`is set by ${env}`, () => {
    expect(Config.parse({})[name]).not.toEqual(value);
    expect(load({ env: { [env]: text } })[name]).toEqual(value);
  });

  test('is set by a flag, and by the file in its own type', () => {
    expect(load({ flags: { [name]: text } })[name]).toEqual(value);
    expect(load({ file: fileWith(JSON.stringify({ [name]: value })) })[name]).toEqual(value);
  });
});

test('flags win over the environment, the environment over the file, the file over the defaults', () => {
  const file = fileWith('maxMemoryMb: 100\nmaxDiskMb: 10\npoolSize: 2\n');
  const env = { MAX_MEMORY_MB: '200', MAX_DISK_MB: '20' };
  const flags = { maxMemoryMb: '300' };
  expect(load({ file, env, flags })).toMatchObject({
    maxMemoryMb: 300,
    maxDiskMb: 20,
    poolSize: 2,
    maxProcesses: 64,
  });
});

test('PUNGI_CONFIG names the file, and a file given by flag wins', () => {
  const env = { PUNGI_CONFIG: fileWith('poolSize: 3') };
  expect(loadConfig({ env }).poolSize).toBe(3);
  const other = join(folder, 'other.yaml');
  writeFileSync(other, 'poolSize: 2');
  expect(loadConfig({ env, file: other }).poolSize).toBe(2);
});

test('an empty variable counts as not set', () => {
  expect(load({ env: { MAX_MEMORY_MB: '' } }).maxMemoryMb).toBe(512);
});

test.each([
  ['a variable', { env: { MAX_MEMORY_MB: 'much' } }, ['MAX_MEMORY_MB', '"much"', 'whole number']],
  ['a number below the least', { env: { MAX_MEMORY_MB: '1' } }, ['MAX_MEMORY_MB', '"1"', 'at least 16']],
  ['a choice', { env: { LOG_LEVEL: 'loud' } }, ['LOG_LEVEL', '"loud"', 'debug, info, error']],
  ['a tier', { env: { PUNGI_TIER: 'vm' } }, ['PUNGI_TIER', '"vm"', 'auto, namespace, landlock, process']],
  ['a switch', { env: { ALLOW_UNSANDBOXED: 'yes' } }, ['ALLOW_UNSANDBOXED', '"yes"', 'true, false']],
  ['a flag', { flags: { poolSize: '-4' } }, ['--pool-size', '"-4"', 'at least 1']],
] satisfies [string, ConfigSources, string[]][])(
  '%s that is not valid is named with its value and what is allowed',
  (_, sources, parts) => {
    const message = problemOf(sources);
    for (const part of parts) expect(message).toContain(part);
  },
);

test('an unknown setting in the file is refused, with the known ones', () => {
  const message = problemOf({ file: fileWith('maxMemory: 5') });
  expect(message).toContain('unknown setting maxMemory');
  expect(message).toContain('maxMemoryMb');
  expect(problemOf({ file: fileWith('maxMemroyMb: 5') })).toMatch(/; did you mean maxMemoryMb\?$/);
  expect(problemOf({ file: fileWith('flute: 5') })).toMatch(/; known are maxMemoryMb, /);
});

test('every problem is told at once', () => {
  const message = problemOf({ env: { LOG_LEVEL: 'loud', POOL_SIZE: 'x' } });
  expect(message).toContain('LOG_LEVEL');
  expect(message).toContain('POOL_SIZE');
});

test.each([
  ['is missing', () => join(folder, 'none.yaml'), 'cannot be read'],
  ['is not YAML', () => fileWith('a: [1'), 'not valid YAML'],
  ['names a setting twice', () => fileWith('poolSize: 1\npoolSize: 2'), 'in line 2'],
  ['is nested too deeply', () => fileWith('['.repeat(100_000)), 'more than 32 levels'],
  ['holds aliases', () => fileWith('a: &x 1\nb: *x'), 'aliases (*name) are not allowed'],
  ['is larger than any settings', () => fileWith(`# ${'x'.repeat(2 ** 20)}`), 'larger than'],
  ['never ends', () => '/dev/zero', 'not a regular file'],
  ['is a folder', () => folder, 'it is a folder'],
  ['is a list', () => fileWith('- 1'), 'must contain settings'],
  ['is a word', () => fileWith('hello'), 'must contain settings'],
])('a file that %s is named', (_, file, words) => {
  const path = file();
  const message = problemOf({ file: path });
  expect(message).toContain(path);
  expect(message).toContain(words);
});
