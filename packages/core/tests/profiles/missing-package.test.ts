import { expect, test } from 'vitest';
import { adviceFor, type Door } from '../../src/base/advice.js';
import { readException } from '../../src/engine/worker-report.js';

const raised = {
  type: 'ModuleNotFoundError',
  message: "No module named 'yaml'",
  line: 1,
  column: 1,
  text: 'import yaml',
  traceback: '',
  missingModule: 'yaml',
};
const hintIn = (environment: string, door: Door = 'command', hasTools = true) =>
  readException({ exception: raised }, { environment, advice: adviceFor(door, hasTools), files: [] })
    ?.exception.hint;

test('a package that an environment made for a profile lacks is not to be installed there, which is refused', () => {
  const hint = hintIn('inline-0123abcd');
  expect(hint).toContain('add it to the packages of the profile, or to the dependencies of the script');
  expect(hint).toContain('pyyaml');
  expect(hint).not.toContain('install_packages');
  expect(hint).not.toContain('pungi env install');
});

test('in any other environment it is, with what whoever asked has at hand', () => {
  expect(hintIn('lab', 'command')).toMatch(/: install it with: pungi env install lab pyyaml$/);
  expect(hintIn('lab', 'library')).toMatch(/: install it with environments\.install\("lab", \["pyyaml"\]\)$/);
  expect(hintIn('lab', 'server')).toMatch(/ install_packages: packages \["pyyaml"\], venvName "lab"$/);
  expect(hintIn('lab', 'server', false)).toMatch(/: ask the administrator of this server to install it$/);
});
