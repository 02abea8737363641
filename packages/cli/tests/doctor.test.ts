import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPTIONS } from '../../core/src/config/schema.js';
import { TIERS } from '../../core/src/contract/outcome.js';
import { kernelFindings } from '../src/doctor/examine.js';
import { program, pungi } from './pungi.js';

interface Report {
  healthy: boolean;
  findings: { name: string; state: string; found: string; todo?: string }[];
  settings: { name: string; value: unknown; origin: string }[];
}
async function doctor(args: string[] = [], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = await pungi(['doctor', '--json', ...args], { env });
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as Report;
  return { status, report, row: (name: string) => report.findings.find((finding) => finding.name === name) };
}

const HEALTHY = 'Node,System,Python,Isolation,Test run,Network,Configuration,Packages,Environments'.split(
  ',',
);

test('a healthy machine fits on one screen and ends with 0', async () => {
  const { status, stdout, stderr } = await pungi(['doctor']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const name of HEALTHY) {
    expect(stdout).toMatch(new RegExp(`^(ok|warn) +${name} `, 'm'));
  }
  expect(stdout).not.toMatch(/^fail/m);
  expect(stdout.split('\n').length).toBeLessThan(40);
});

test('the tier in force is named, and the bait beside the sandbox is out of reach', async () => {
  const { status, row } = await doctor();
  expect(status).toBe(0);
  expect(TIERS.some((tier) => row('Isolation')?.found.startsWith(`${tier} tier`))).toBe(true);
  for (const name of ['Test run', 'Files outside', 'Network']) expect(row(name)?.state).toBe('ok');
});

test('what is preloaded is named, and what cannot be is a warning with the reason', async () => {
  const { status, report } = await doctor([], { PRELOAD_MODULES: 'decimal no_such_module' });
  expect(status).toBe(0);
  const preloads = report.findings.filter(({ name }) => name === 'Preload');
  expect(preloads.map(({ state, found }) => [state, found]).sort()).toEqual([
    ['ok', 'decimal'],
    ['warn', "no_such_module is not loaded: ModuleNotFoundError: No module named 'no_such_module'"],
  ]);
});

test('a weaker tier that was asked for is a warning that says so', async () => {
  // As root, runs have another identity, which may not be able to read an interpreter in root's home.
  const python =
    process.getuid?.() === 0 && existsSync('/usr/bin/python3') ? ['--python', '/usr/bin/python3'] : [];
  const { status, row } = await doctor(['--tier', 'process', '--allow-unsandboxed', ...python]);
  expect(status).toBe(0);
  expect(row('Isolation')).toMatchObject({
    state: 'warn',
    todo: expect.stringContaining('PUNGI_TIER asks for process'),
  });
  for (const name of ['Files outside', 'Network']) expect(row(name)?.state).toBe('warn');
});

test('no interpreter is unhealthy, names where it looked, and ends with 1', async () => {
  const { status, report, row } = await doctor([], { PUNGI_PYTHON: '/nowhere/python3' });
  expect({ status, healthy: report.healthy }).toEqual({ status: 1, healthy: false });
  expect(row('Python')).toMatchObject({ state: 'fail', found: expect.stringContaining('/nowhere/python3') });
  expect(row('Test run')).toBeUndefined();
});

test('every setting is told with its origin', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'test-doctor-test-'));
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, 'maxDiskMb: 32\nmaxProcesses: 20\n');
  const { report } = await doctor(['--config', file, '--tier', 'auto'], { MAX_PROCESSES: '30' });
  rmSync(folder, { recursive: true });
  expect(report.settings.map(({ name }) => name)).toEqual(Object.keys(OPTIONS));
  const origins = Object.fromEntries(
    report.settings.map(({ name, value, origin }) => [name, [value, origin]]),
  );
  expect(origins).toMatchObject({
    maxDiskMb: [32, file],
    maxProcesses: [30, 'MAX_PROCESSES'],
    tier: ['auto', 'command line'],
    maxMemoryMb: [512, 'default'],
  });
});

test('a setting that is not valid is a row of the screen, not an end of it', async () => {
  const { status, row } = await doctor([], { POOL_SIZE: 'x' });
  expect(status).toBe(1);
  expect(row('Configuration')).toMatchObject({
    state: 'fail',
    found: expect.stringContaining('POOL_SIZE is "x"'),
  });
  expect(row('Node')?.state).toBe('ok');
});

test.each([
  ['User namespaces', '/proc/sys/kernel/unprivileged_userns_clone', '0', 'unprivileged_userns_clone=1'],
  ['User namespaces', '/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', 'apparmor_restrict'],
  ['User namespaces', '/proc/sys/user/max_user_namespaces', '0', 'max_user_namespaces'],
  ['Landlock', '/sys/kernel/security/lsm', 'yama,apparmor', 'lsm='],
])('the kernel row %s warns when %s is %s', (name, path, content, advice) => {
  const kernel: Record<string, string> = {
    '/proc/sys/user/max_user_namespaces': '9',
    '/sys/kernel/security/lsm': 'landlock,yama',
    '/proc/sys/kernel/seccomp/actions_avail': 'errno',
  };
  expect(kernelFindings('linux', (file) => kernel[file]).map(({ state }) => state)).toEqual(
    Array(4).fill('ok'),
  );
  const rows = kernelFindings('linux', (file) => ({ ...kernel, [path]: content })[file]);
  expect(rows.find((row) => row.name === name)).toMatchObject({
    state: 'warn',
    todo: expect.stringContaining(advice),
  });
});

test('elsewhere than on Linux the doctor says that runs are not isolated', () => {
  expect(kernelFindings('darwin')).toMatchObject([
    { state: 'warn', todo: expect.stringContaining('ALLOW_UNSANDBOXED') },
  ]);
});

test.runIf(process.getuid?.() === 0)('root without capabilities reads what to do', async () => {
  const through = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  const { status, stdout } = await program(['doctor'], { through });
  expect(status).not.toBe(0);
  expect(stdout).toContain('root without capabilities can enter no sandbox; use an ordinary user');
  expect(stdout).toContain('Start Pungi as an ordinary user');
});
