import { expect, test } from 'vitest';
import { parseLockFile, renderLockFile } from '../../src/environments/lock-file.js';

const HASH = `sha256:${'a'.repeat(64)}`;
const PINS = [
  { name: 'apple', version: '1.1', hashes: [HASH, `sha256:${'b'.repeat(64)}`] },
  { name: 'from-url', version: '', url: 'https://example.org/from_url-1.0-py3-none-any.whl', hashes: [HASH] },
];
const ABOUT = { description: 'for "fruit" # and more', pythonVersion: '3.12', requested: ['apple<2'] };

test('what was written is what is read', () => {
  expect(parseLockFile(renderLockFile(PINS, ABOUT))).toEqual({ about: ABOUT, pins: PINS });
});

test('lock files of other tools can be read', () => {
  const text = `# made by hand\r\nsix==1.17.0 \\\r\n    --hash=${HASH}  # via something\r\n`;
  expect(parseLockFile(text)).toEqual({
    about: {},
    pins: [{ name: 'six', version: '1.17.0', hashes: [HASH] }],
  });
});

test.each([
  ['an option', '--index-url https://example.org'],
  ['an option behind a pin', `six==1 --hash=${HASH} --pre`],
  ['another file', '-r other.txt'],
  ['no hash', 'six==1.17.0'],
  ['a weak hash', 'six==1.17.0 --hash=md5:0123'],
  ['a range', `six>=1 --hash=${HASH}`],
  ['a path', `./six.whl --hash=${HASH}`],
  ['a name that is an option', `-six==1 --hash=${HASH}`],
  ['a strange scheme', `six @ git+ssh://example.org/six --hash=${HASH}`],
  ['two versions', `six==1 --hash=${HASH}\nSix==2 --hash=${HASH}`],
  ['shell text', `six==$(id) --hash=${HASH}`],
  ['a broken comment', '# pungi: {"requested": }'],
])('%s is refused', (_, text) => {
  expect(() => parseLockFile(text)).toThrow(/not a lock file that can be used/);
});
