import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  evilSource,
  PACKAGES,
  sharedPackageIndex,
  startPackageIndex,
} from '../../../../tests/support/package-index.js';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { ensureUv } from '../../../../tests/support/uv.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { temporaryFolder } from '../engine/pungi.js';

const run = promisify(execFile);
const scratch = temporaryFolder();
const freshFolder = () => mkdtempSync(join(scratch, 'folder-'));
const index = await sharedPackageIndex();
const { path: python } = await findInterpreter();
const uv = await ensureUv();

/** With settings that a tool must not follow: whoever reads them installs nothing. */
const home = freshFolder();
for (const [file, section] of Object.entries({ 'pip/pip.conf': 'global', 'uv/uv.toml': 'pip' })) {
  mkdirSync(join(home, '.config', dirname(file)), { recursive: true });
  writeFileSync(join(home, '.config', file), `[${section}]\nno-index = true\n`);
}
const base = { PATH: '/usr/bin:/bin', HOME: home };

const NO_BUILD = ['--no-build'];
const install = (env: Record<string, string>, into: string, ...args: string[]) =>
  run(uv, ['pip', 'install', '--python', python, '--target', into, ...args], {
    env: { ...base, UV_CACHE_DIR: freshFolder(), ...env },
  });

const namesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.dist-info'))
    .map((name) => name.replace('.dist-info', ''))
    .sort();

/** Some systems have Python without pip. */
const hasPip = await run(python, ['-I', '-c', 'import pip']).then(
  () => true,
  () => false,
);

test('installs what is good, with what it requires, whole', async () => {
  const into = freshFolder();
  const good = 'durian opencv-python extras-pkg pthed scripted many shout native-free'.split(' ');
  await install(index.env, into, ...good);
  expect(namesIn(into)).toEqual([
    ...['apple-1.1', 'banana-1.0', 'cherry-1.0', 'durian-1.0', 'extras_pkg-1.0', 'many-1.0'],
    ...['native_free-1.0', 'opencv_python-9.0', 'pthed-1.0', 'scripted-1.0', 'shout-1.0'],
  ]);
  expect(await brokenRecords(into)).toBe('[]\n');
  const { stdout } = await run(join(into, 'bin/scripted-hello'), { env: { ...base, PYTHONPATH: into } });
  expect(stdout).toBe('scripted says hello\n');
});

test.each([
  ['apple', ['apple-2.0']],
  ['apple==1.0', ['apple-1.0']],
  ['extras-pkg[fruit]', ['apple-2.0', 'banana-1.0', 'extras_pkg-1.0']],
])('resolves %s', async (requirement, expected) => {
  const into = freshFolder();
  await install(index.env, into, requirement);
  expect(namesIn(into)).toEqual(expected);
});

test.each([
  ['cherry clash', /are incompatible/],
  ['onlysource', /no usable wheels/],
  ['evilsource', /no usable wheels/],
  ['needs-new-python', /3\.99/],
  ['broken-wheel', /Failed to extract archive/],
  ['badhash', /Hash mismatch/],
  ['nowhere-to-be-found', /was not found/],
])('refuses %s', async (requirements, why) => {
  const into = freshFolder();
  const refused = install(index.env, into, ...NO_BUILD, ...requirements.split(' '));
  await expect(refused).rejects.toThrow(why);
  expect(readdirSync(into).filter((name) => name !== '.lock')).toEqual([]);
  expect(existsSync(join(home, 'evilsource-was-here'))).toBe(false);
});

test('builds a source distribution where that is allowed, with nothing but the index', async () => {
  const into = freshFolder();
  await install(index.env, into, 'onlysource');
  expect(namesIn(into)).toEqual(['onlysource-1.0']);
});

test('lets the backend of evilsource do its harm where it may run', async () => {
  const marker = join(freshFolder(), 'marker');
  const target = new URL(index.url);
  const evil = await startPackageIndex([
    evilSource({ write: [marker], read: [python], connect: [[target.hostname, Number(target.port)]] }),
  ]);
  const into = freshFolder();
  await install(evil.env, into, 'evilsource').finally(() => evil.stop());
  expect(existsSync(marker)).toBe(true);
  const report = readFileSync(join(into, 'evilsource.py'), 'utf8');
  expect(report).toContain(`'wrote': ['${marker}'], 'read': ['${python}']`);
  expect(report).toContain(`'connected': [['127.0.0.1', ${target.port}]]`);
});

test('puts nothing outside its folder for a wheel that says so', async () => {
  const wheel = await fetch(`${index.url}/../files/traversal/traversal-1.0-py3-none-any.whl`);
  expect(await wheel.text()).toContain('../../escaped.py');
  const into = join(freshFolder(), 'lib/site-packages');
  await install(index.env, into, 'traversal').catch(() => undefined);
  expect(existsSync(join(into, '../../escaped.py'))).toBe(false);
});

test('finds nobody after the index has stopped', async () => {
  const other = await startPackageIndex();
  await other.stop();
  const env = { ...other.env, UV_HTTP_RETRIES: '0' };
  await expect(install(env, freshFolder(), 'apple')).rejects.toThrow(/refused/);
});

test('gets the status that a path was told to fail with', async () => {
  const restore = index.fail(/^\/files\/apple\/.*\.whl$/, 403);
  await expect(install(index.env, freshFolder(), 'apple')).rejects.toThrow('403');
  restore();
  await install(index.env, freshFolder(), 'apple');
});

test('the .pth file of pthed runs with every interpreter that reads its folder', async () => {
  const into = freshFolder();
  await install(index.env, into, 'pthed');
  const code = `import site, sys; site.addsitedir(${JSON.stringify(into)}); print(sys.pthed_ran)`;
  const { stdout } = await run(python, ['-I', '-c', code]);
  expect(stdout).toBe('True\n');
  expect(existsSync(join(into, 'pthed-was-here'))).toBe(true);
});

test.skipIf(!hasPip)(
  'hijack and rehome take the place of an interpreter where pip installs them',
  async () => {
    const venv = freshFolder();
    await run(python, ['-m', 'venv', '--without-pip', venv]);
    const command = ['-I', '-m', 'pip', '--python', join(venv, 'bin/python'), 'install', '--no-cache-dir'];
    await run(python, [...command, 'hijack', 'rehome'], { env: { ...base, ...index.env } });
    await run(join(venv, 'bin/python'), ['-c', 'pass']);
    expect(existsSync(join(venv, 'bin/hijack-was-here'))).toBe(true);
    expect(readFileSync(join(venv, 'pyvenv.cfg'), 'utf8')).toContain('/nowhere');
  },
);

test('pages as JSON and as HTML name the same files and hashes', async () => {
  const ask = (accept: string) => fetch(`${index.url}/apple/`, { headers: { accept } });
  const json = (await (await ask('application/vnd.pypi.simple.v1+json')).json()) as {
    versions: string[];
    files: { filename: string; hashes: { sha256: string } }[];
  };
  const html = await (await ask('text/html')).text();
  expect(json.versions).toEqual(['1.0', '1.1', '2.0']);
  for (const { filename, hashes } of json.files) {
    expect(html).toContain(`${filename}#sha256=${hashes.sha256}`);
  }
  expect((await fetch(`${index.url}/pear/`)).status).toBe(404);
});

test('requests stay open while it hangs, and are answered afterwards', async () => {
  index.hang(true);
  const before = index.requests.length;
  let status = 0;
  const asked = fetch(`${index.url}/apple/`).then((response) => {
    status = response.status;
  });
  await until(() => index.requests.length > before, 'the request has come');
  expect(index.requests.at(-1)).toBe('/simple/apple/');
  expect(status).toBe(0);
  index.hang(false);
  await asked;
  expect(status).toBe(200);
});

test('a slow file comes in pieces, and whole', async () => {
  const [slow] = PACKAGES.filter(({ name }) => name === 'slowpkg');
  const other = await startPackageIndex([{ ...slow!, trickleMs: 200 }]);
  try {
    const response = await fetch(`${other.url}/../files/slowpkg/slowpkg-1.0-py3-none-any.whl`);
    let pieces = 0;
    let bytes = 0;
    for await (const piece of response.body!) {
      pieces += 1;
      bytes += piece.length;
    }
    expect(pieces).toBeGreaterThan(5);
    expect(bytes).toBe(Number(response.headers.get('content-length')));
  } finally {
    await other.stop();
  }
});

/** Files of the folder's packages that are not as their RECORD says; uv does not look. */
async function brokenRecords(folder: string): Promise<string> {
  const code = py`
    import base64, hashlib, importlib.metadata, sys
    broken = []
    for distribution in importlib.metadata.distributions(path=[sys.argv[1]]):
        for file in distribution.files:
            if file.hash and '..' not in file.parts:
                digest = hashlib.new(file.hash.mode, file.locate().read_bytes()).digest()
                if base64.urlsafe_b64encode(digest).rstrip(b'=').decode() != file.hash.value:
                    broken.append(str(file))
    print(broken)
  `;
  return (await run(python, ['-I', '-c', code, folder])).stdout;
}
