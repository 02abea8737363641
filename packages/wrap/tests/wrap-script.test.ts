import { expect, test } from 'vitest';
import type { ToolsFile } from '../../core/src/contract/wrap.js';
import { sharedPungi } from '../../core/tests/engine/pungi.js';
import { type WrapChoice, wrapScript } from '../src/tools-file/wrap-script.js';
import { say } from './tools-folder.js';

const pungi = sharedPungi();
const MAIN = 'if __name__ == "__main__":\n    print(1)\n';

/** A script with these functions and a main part, wrapped in place of an old state of it. */
async function wrapped(functions: string[], choice: WrapChoice, old?: ToolsFile): Promise<ToolsFile> {
  const code = functions.map((name) => say(name)).join('') + MAIN;
  const place = { name: 'report', script: 'report.py', old };
  return (await wrapScript(pungi, { code, filename: 'report.py' }, choice, place)).file;
}
const namesOf = ({ tools }: ToolsFile) => tools.map(({ name }) => name);

test('functions that were chosen stay chosen, whatever comes and goes', async () => {
  const first = await wrapped(['total', 'plot'], { functions: ['plot', 'total'] });
  expect(namesOf(first)).toEqual(['total', 'plot']);
  expect(namesOf(await wrapped(['total', 'plot', 'erase'], {}, first))).toEqual(['total', 'plot']);
  expect(namesOf(await wrapped(['total', 'chart'], {}, first))).toEqual(['total']);
  await expect(wrapped(['chart'], {}, first)).rejects.toThrow('There is nothing to wrap in report.py');
});

test('a mode that is chosen now takes the place of functions that were chosen earlier, and the other way round', async () => {
  const first = await wrapped(['total', 'plot'], { functions: ['total'] });
  const script = await wrapped(['total', 'plot'], { mode: 'script' }, first);
  expect(namesOf(script)).toEqual(['report']);
  expect(namesOf(await wrapped(['total', 'plot'], { mode: 'function' }, first))).toEqual(['total', 'plot']);
  expect(namesOf(await wrapped(['total', 'plot'], { functions: ['plot'] }, script))).toEqual(['plot']);
});
