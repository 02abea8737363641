import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunRequest } from '../../../pungi/src/index.js';
import { createLogger } from '../../src/base/logger.js';
import { listeningLogger, startPungi, temporaryFolder } from '../engine/pungi.js';
import { openWorld, refusal } from '../environments/world.js';

const world = await openWorld();

test.each<[string, RunRequest, ...(string | undefined)[][]]>([
  [
    'ends well',
    { code: '1' },
    ['info', 'Executing Python script'],
    ['info', 'Executed Python script', undefined],
  ],
  [
    'fails',
    { code: '1 / 0' },
    ['info', 'Executing Python script'],
    ['error', 'Python script failed', 'PYTHON_ERROR'],
  ],
  ['is refused', { code: '1', profile: 'nobody' }, ['error', 'Python script was refused', 'INVALID_INPUT']],
  ['may not be', { code: '1', env: { A: 'b' } }, ['error', 'Python script was refused', 'DENIED']],
  [
    'has no environment',
    { code: '1', venvName: 'none' },
    ['error', 'Python script was refused', 'ENVIRONMENT_NOT_FOUND'],
  ],
])('a run that %s is logged as what it is', async (_how, request, ...expected) => {
  const logger = listeningLogger();
  const pungi = startPungi(world.settings, logger);
  try {
    const { verdict } = await pungi.run(request);
    const logged = logger.entries.filter(({ message }) => message.includes('Python script'));
    expect(logged.map(({ level, message }) => [level, message])).toEqual(
      expected.map((each) => each.slice(0, 2)),
    );
    const { context } = logged.at(-1)!;
    expect(context['code']).toBe(expected.at(-1)![2]);
    if (verdict.kind !== 'ok') expect(context['message']).toBe(verdict.message);
  } finally {
    await pungi.close();
  }
});

test('changes of environments and packages are logged, and those that fail as errors', async () => {
  const logger = listeningLogger();
  const pungi = startPungi(world.settings, logger);
  try {
    await pungi.environments.create({ venvName: 'logged' });
    await pungi.environments.install('logged', ['apple<2']);
    await refusal(pungi.environments.install('logged', ['no-such-thing']));
    await pungi.environments.uninstall('logged', ['apple']);
    await pungi.environments.delete({ venvName: 'logged', confirm: true });
    const about = logger.entries.filter(({ context }) => context['venvName'] === 'logged');
    expect(about.map(({ level, message, context }) => [level, message, context['action']])).toEqual([
      ['info', 'An environment was changed', 'create'],
      ['info', 'Packages were changed', 'install'],
      ['error', 'Packages could not be changed', 'install'],
      ['info', 'Packages were changed', 'uninstall'],
      ['info', 'An environment was changed', 'delete'],
    ]);
    expect(about[1]!.context['added']).toEqual(['apple 1.1']);
    expect(about[2]!.context).toMatchObject({
      code: 'PACKAGE_INSTALLATION_ERROR',
      message: expect.stringContaining('no-such-thing'),
    });
  } finally {
    await pungi.close();
  }
});

test.each(['text', 'json'] as const)(
  'an entry as %s is one bounded line, whatever foreign code put into it',
  (logFormat) => {
    const logFile = join(temporaryFolder(), 'log');
    const logger = createLogger({ logLevel: 'info', logFormat, logFile });
    const evil = `\x1b[2J\x1b]0;title\x07\x9b31m\u2028\u202e\r\nERROR: forged ${'x'.repeat(1e6)}`;
    logger.error(evil, {
      code: 'PYTHON_ERROR',
      message: evil,
      deep: [[[[[[[evil]]]]]]],
      many: Array(1e5).fill(evil),
    });
    logger.debug('not logged');
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]!.length).toBeLessThan(100_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(lines[0]).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]/);
    if (logFormat === 'text') expect(lines[0]).toMatch(/^\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] ERROR: /);
    else
      expect(JSON.parse(lines[0]!)).toMatchObject({
        level: 'error',
        message: expect.any(String),
        timestamp: expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/),
        context: { code: 'PYTHON_ERROR' },
      });
  },
);
