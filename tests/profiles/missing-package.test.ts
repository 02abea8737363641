import { expect, test } from 'vitest';
import { readException } from '../../src/engine/worker-words.js';

const raised = {
  type: 'ModuleNotFoundError',
  message: "No module named 'yaml'",
  line: 1,
  column: 1,
  text: 'import yaml',
  traceback: '',
  missingModule: 'yaml',
};
const hintIn = (environment: string) => readException({ exception: raised }, environment)?.exception.hint;

test('a package that an environment made for a profile lacks is not to be installed there, which is refused', () => {
  const hint = hintIn('inline-0123abcd');
  expect(hint).toContain('add it to the packages of the profile, or to the dependencies of the script');
  expect(hint).toContain('pyyaml');
  expect(hint).not.toContain('install_packages');
  expect(hint).not.toContain('pungi env install');
});

test('in any other environment it is', () => {
  expect(hintIn('lab')).toMatch(/pungi env install lab pyyaml$/);
});
