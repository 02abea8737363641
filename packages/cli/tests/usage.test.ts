import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { OPTIONS } from '../../core/src/config/schema.js';
import { pungi } from './pungi.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-usage-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A failure of the person's own: status 2, one sentence, nothing on stdout. */
async function refused(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { status, stdout, stderr } = await pungi(args, { env: { LOG_LEVEL: 'error', ...env }, cwd: folder });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
  return stderr;
}

test('--version prints the version of the package', async () => {
  const { version } = (await import('../../../package.json', { with: { type: 'json' } })).default;
  expect(await pungi(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
});

test('a reader that has gone is no fault', async () => {
  const help = promisify(execFile)('sh', ['-c', '"$0" "$1" --help | true', process.execPath, MAIN]);
  expect(await help).toEqual({ stdout: '', stderr: '' });
});

test('without a command a terminal shows the help', async () => {
  const { status, stdout } = await pungi([], { terminal: true });
  expect(status).toBe(0);
  for (const command of [
    'serve',
    'run',
    'shell',
    'files',
    'env',
    'profile',
    'wrap',
    'test',
    'audit',
    'analyze',
    'doctor',
  ])
    expect(stdout).toContain(command);
});

test('the help of run names every exit code', async () => {
  const { status, stdout } = await pungi(['run', '--help']);
  expect(status).toBe(0);
  const codes = ['0', '1', '2', '66', '69', '70', '73', '74', '75', '76', '77', '124', '130', '137', '128+N'];
  for (const code of codes) expect(stdout).toMatch(new RegExp(`^ +${code.replace('+', '\\+')} +\\w`, 'm'));
});

const ENV = 'create list show install remove describe clone export import delete clean'.split(' ');

test('the help of env names its commands, and each of them has examples and its exit codes', async () => {
  const { stdout } = await pungi(['env', '--help']);
  for (const name of ENV) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  for (const name of ENV) {
    const help = await pungi(['env', name, '--help']);
    expect(help.status).toBe(0);
    expect(help.stdout).toMatch(new RegExp(`\\nExamples:\\n  pungi env ${name}\\b`));
    expect(help.stdout).toMatch(/^ +73 +\w/m);
    expect(help.stdout).toContain('VENVS_BASE_PATH');
  }
});

test('no line of a help is wider than 100 columns', async () => {
  const commands = [
    [],
    ['run'],
    ['serve'],
    ['analyze'],
    ['doctor'],
    ['env'],
    ['profile'],
    ['wrap'],
    ['files'],
    ['files', 'get'],
    ['test'],
  ];
  for (const name of ENV) commands.push(['env', name]);
  for (const name of ['list', 'show', 'check']) commands.push(['profile', name]);
  const helps = await Promise.all(commands.map((command) => pungi([...command, '--help'])));
  const wide = helps.flatMap(({ stdout }) => stdout.split('\n')).filter((line) => line.length > 100);
  expect(wide).toEqual([]);
});

test('the help of serve names every variable', async () => {
  const { stdout } = await pungi(['serve', '--help']);
  for (const { env } of Object.values(OPTIONS)) expect(stdout).toContain(env);
});

describe('one sentence and status 2', () => {
  test.each([
    [['flute'], 'flute'],
    [['run', '--flute'], '--flute'],
    [['run'], 'nothing to run'],
    [['run', 'missing.py'], 'missing.py'],
    [['run', '.'], 'it is a folder'],
    [['run', '--timeout', 'soon', '-c', '1'], '--timeout'],
    [['run', '--memory', '1', '-c', '1'], 'at least 16'],
    [['run', '--stdin', '@missing.txt', '-c', '1'], 'missing.txt'],
    [['run', '--file', 'a=missing.csv', '-c', '1'], 'missing.csv'],
    [['run', '-c'], "option '-c, --code <code>' argument missing"],
    [['run', '--out', '/dev/null', '-c', '1'], '--out cannot be created: there is a file of that name.'],
    [['run', '--out', '/proc/nowhere/below', '-c', '1'], 'The folder of --out cannot be created'],
    [['run', '--tier', 'vm', '-c', '1'], 'namespace'],
    [['run', '--fresh', '-c', '1'], '--fresh'],
    [['serve', '--alert-failure-rate', '101'], 'must be at most 100'],
    [['env', 'create'], 'see "pungi env create --help"'],
    [['env', 'list', '--default-venv-name', 'a/b'], 'a/b'],
    [['profile', 'list', '--flute'], 'see "pungi profile list --help"'],
    [['profile', 'list', '--profiles-file', 'missing.yaml'], 'missing.yaml'],
    [['profile', 'show', 'nobody'], 'There is no profile "nobody"'],
    [['run', '--profiles-file', 'missing.yaml', '-c', '1'], 'missing.yaml'],
    [['run', '--default-profile', 'nobody', '-c', '1'], 'DEFAULT_PROFILE'],
    [['serve', '--allowed-profiles', 'nobody'], 'ALLOWED_PROFILES'],
    [['analyze'], 'see "pungi analyze --help"'],
    [['analyze', 'missing.py'], 'missing.py'],
    [['serve', '--http', 'nowhere'], '127.0.0.1:8765'],
    [['serve', '--http', '127.0.0.1:99999'], '127.0.0.1:99999'],
    [['serve', '--http', '0.0.0.0:0'], '0.0.0.0'],
    [['serve', '--pool-size', 'x'], '--pool-size is "x"'],
    [['serve', '--config', 'missing.yaml'], 'missing.yaml'],
    [['serve', '--log-file', '/dev/null/log'], '/dev/null/log'],
    [['serve', '--log-file', '/proc/nowhere/log'], '/proc/nowhere/log'],
    [['serve', '--tools', '/dev/null'], 'is a file: name the folder that contains it'],
    [['wrap', 'list', '--tools', '/dev/null/tools'], 'it is not a folder, or it lies below a file'],
    [['help', 'rnu'], 'unknown command \'rnu\' (did you mean run?); see "pungi --help"'],
    [['help', 'env', 'nothing'], 'unknown command \'nothing\'; see "pungi env --help"'],
    [['env', 'help', 'crate'], 'did you mean create?'],
    [['test', 'lnt', '--', 'true'], 'did you mean "pungi test lint"?'],
    [['test', 'init'], 'Name a server'],
  ])('for pungi %j', async (args, words) => {
    expect(await refused(args)).toContain(words);
  });

  test.each([['serve'], ['run', '-c', '1']])(
    'for a variable that is not valid, in pungi %s',
    async (...args) => {
      const sentence = await refused(args, { MAX_MEMORY_MB: 'lots' });
      for (const part of ['MAX_MEMORY_MB', '"lots"', 'must be a whole number'])
        expect(sentence).toContain(part);
    },
  );

  test('for a setting that does not exist, with its file', async () => {
    writeFileSync(join(folder, 'pungi.yaml'), 'maxMemory: 5\n');
    expect(await refused(['run', '-c', '1'])).toContain('unknown setting maxMemory in pungi.yaml');
  });
});

test('with --json a failure before the run is JSON as well', async () => {
  const { status, stdout, stderr } = await pungi(['run', '--json', 'missing.py'], { cwd: folder });
  expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'INVALID_INPUT', message: expect.stringContaining('missing.py') },
  });
});
