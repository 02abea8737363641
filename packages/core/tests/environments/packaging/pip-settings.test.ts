import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readPipSettings } from '../../../src/environments/packaging/uv-settings.js';
import { interpreter, makeVenv, temporaryFolder } from './venv.js';

const run = promisify(execFile);

/** A machine of its own: files below its folder, by name. */
function machine(files: Record<string, string>) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, env: { HOME: join(folder, 'home'), XDG_CONFIG_DIRS: join(folder, 'etc') } };
}

const read = async (env: Record<string, string>) => readPipSettings(await interpreter(), env);

const indexOf = (name: string) => `[global]\nindex-url = https://${name}.example/simple\n`;

test('every setting of a file, with the section of the command over the global one', async () => {
  const { folder, env } = machine({
    'wheels/x': '',
    'home/.config/pip/pip.conf': [
      '[global]',
      'index_url = https://user:pass%40word@index.example/simple',
      'Extra-Index-URL =',
      '    https://one.example/simple',
      '    https://two.example/simple',
      'timeout = 7.5',
      'retries = 2',
      'pre = no',
      '; a comment',
      '[install]',
      'pre = yes',
      'no-index = true',
      'find-links = FOLDER/wheels FOLDER/absent file://FOLDER/wheels https://links.example/',
      'trusted-host = one.example two.example:8080',
      'cert = ~/certs.pem',
      'client-cert = /client.pem',
      'proxy = http://proxy.example:3128',
      'constraint = /constraints.txt',
      'keyring-provider = subprocess',
      '[download]',
      'timeout = 99',
    ].join('\n'),
  });
  const path = join(env.HOME, '.config/pip/pip.conf');
  writeFileSync(path, (await run('cat', [path])).stdout.replaceAll('FOLDER', folder));
  expect(await read(env)).toEqual({
    indexUrl: 'https://user:pass%40word@index.example/simple',
    extraIndexUrls: ['https://one.example/simple', 'https://two.example/simple'],
    findLinks: [join(folder, 'wheels'), join(folder, 'wheels'), 'https://links.example/'],
    noIndex: true,
    trustedHosts: ['one.example', 'two.example:8080'],
    cert: join(env.HOME, 'certs.pem'),
    clientCert: '/client.pem',
    proxy: 'http://proxy.example:3128',
    timeout: 7.5,
    retries: 2,
    constraints: ['/constraints.txt'],
    pre: true,
    keyringProvider: 'subprocess',
  });
});

test('files come in the order of pip, and variables last', async () => {
  const files: Record<string, string> = {};
  const { folder, env } = machine(files);
  const add = (name: string, index: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), indexOf(index));
  };
  const index = async (more = {}) => (await read({ ...env, ...more })).indexUrl;
  add('etc/pip/pip.conf', 'machine');
  expect(await index()).toContain('//machine.');
  add('home/.pip/pip.conf', 'legacy');
  expect(await index()).toContain('//legacy.');
  add('home/.config/pip/pip.conf', 'user');
  expect(await index()).toContain('//user.');
  add('xdg/pip/pip.conf', 'xdg');
  expect(await index({ XDG_CONFIG_HOME: join(folder, 'xdg') })).toContain('//xdg.');
  add('named.conf', 'named');
  const named = { PIP_CONFIG_FILE: join(folder, 'named.conf') };
  expect(await index(named)).toContain('//named.');
  expect(await index({ ...named, PIP_INDEX_URL: 'https://variable.example' })).toContain('//variable.');
  expect(await index({ PIP_CONFIG_FILE: '/dev/null' })).toBeNull();
});

test('the file of a virtual environment is over that of the user', async () => {
  const { env } = machine({ 'home/.pip/pip.conf': indexOf('user') });
  const venv = await makeVenv();
  writeFileSync(join(venv, 'pip.conf'), indexOf('environment'));
  const settings = await readPipSettings(join(venv, 'bin/python'), env);
  expect(settings.indexUrl).toContain('//environment.');
});

test('pip itself reads the same', async () => {
  const { env } = machine({
    'home/.pip/pip.conf':
      '[global]\nindex-url = https://legacy.example/simple\ntimeout = 3\n[install]\ntimeout = 4\n',
    'home/.config/pip/pip.conf': '[global]\nextra-index-url = https://more.example/simple\n',
  });
  const all = { ...env, PIP_TRUSTED_HOST: 'one.example' };
  const { stdout } = await run(await interpreter(), ['-I', '-m', 'pip', 'config', 'list'], { env: all });
  // The machine may have settings of its own.
  expect(stdout.trim().split('\n')).toEqual(
    expect.arrayContaining([
      ":env:.trusted-host='one.example'",
      "global.extra-index-url='https://more.example/simple'",
      "global.index-url='https://legacy.example/simple'",
      "global.timeout='3'",
      "install.timeout='4'",
    ]),
  );
  expect(await read(all)).toMatchObject({
    trustedHosts: ['one.example'],
    extraIndexUrls: ['https://more.example/simple'],
    indexUrl: 'https://legacy.example/simple',
    timeout: 4,
  });
});

test('a file that pip could not read either is an error that names it', async () => {
  const { env } = machine({ 'home/.pip/pip.conf': 'index-url = x\n' });
  await expect(read(env)).rejects.toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: expect.stringMatching(/^pip's configuration cannot be read: .+pip\.conf/),
  });
});
