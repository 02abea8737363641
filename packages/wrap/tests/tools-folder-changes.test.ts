import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedPackageIndex } from '../../../tests/support/package-index.js';
import { py } from '../../../tests/support/python.js';
import { until } from '../../../tests/support/until.js';
import { ensureUv } from '../../../tests/support/uv.js';
import { sha256 } from '../../core/src/base/sha256.js';
import type { ToolsFile } from '../../core/src/contract/wrap.js';
import { withPungi } from '../../core/tests/engine/pungi.js';
import type { Pungi } from '../../pungi/src/index.js';
import { wrappedCall } from '../src/call/wrapped-call.js';
import { toolsFile } from './tools.js';
import { say, toolsFolders, write } from './tools-folder.js';

const { pungi, newFolder, offered } = toolsFolders();
const index = await sharedPackageIndex([{ name: 'apple', version: '1.0' }]);

describe('names stay', () => {
  const since = (day: number) => ({ since: `2026-01-0${day}T00:00:00.000Z` });

  test('when another script with the same names comes, and when it goes', async () => {
    const { names, folder, wrapped } = await offered({ 'b.py': say('same') });
    write(folder, { 'a.py': say('same') });
    await wrapped.look();
    expect(names().sort()).toEqual(['a_same', 'same']);
    expect(wrapped.tools.get('same')?.group).toBe('b');
    rmSync(join(folder, 'b.py'));
    await wrapped.look();
    expect(names()).toEqual(['a_same']);
    write(folder, { 'b.py': say('same') });
    await wrapped.look();
    expect(wrapped.tools.get('same')?.group).toBe('b');
  });

  test('at the next start, whatever the order of the files and whoever was saved last', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const file = (day: number) => toolsFile(join(elsewhere, 'far.py'), since(day));
    const { wrapped } = await offered({
      'z.tools.json': file(1),
      'm.tools.json': file(3),
      'a.tools.json': file(2),
    });
    expect(Object.fromEntries([...wrapped.tools.values()].map(({ group, name }) => [group, name]))).toEqual({
      z: 'hello',
      a: 'a_hello',
      m: 'm_hello',
    });
  });
});

describe('where a script runs', () => {
  const CODE = `import apple\n\n${say('hello')}`;
  const hello = (changes: Partial<ToolsFile>) => ({
    'a.py': CODE,
    'a.tools.json': toolsFile('a.py', { sha256: sha256(CODE), ...changes }),
  });
  const places = newFolder();
  write(places, { 'profiles.yaml': 'profiles:\n  placed:\n    environment: made-later\n' });

  test('an environment that is missing, also that of a profile, and a package, are told until they are there', async () => {
    const settings = {
      PROFILES_FILE: join(places, 'profiles.yaml'),
      VENVS_BASE_PATH: join(places, 'venvs'),
      PUNGI_UV: await ensureUv(),
    };
    Object.assign(process.env, index.env);
    await withPungi(settings, async (side) => {
      const { environments } = side;
      const both = {
        'b.tools.json': toolsFile('a.py', { sha256: sha256(CODE), profile: 'placed' }, { name: 'other' }),
      };
      const { wrapped, names, problems } = await offered(
        { ...hello({ environment: 'made-later' }), ...both },
        { side },
      );
      const missing = () => wrapped.scripts.map(({ inUse }) => inUse?.tools.missingImports);
      const isMissing = expect.stringMatching(/made-later/);
      expect(names()).toEqual(['hello', 'other']);
      expect(problems()).toEqual({ 'a.tools.json': isMissing, 'b.tools.json': isMissing });
      await environments.create({ venvName: 'made-later' });
      await wrapped.look();
      const isUnloaded = expect.stringMatching(
        /a\.py cannot be loaded \(line 1\).*'apple'.*made-later.*install/,
      );
      expect(problems()).toEqual({ 'a.tools.json': isUnloaded, 'b.tools.json': isUnloaded });
      expect(missing()).toEqual([['apple'], ['apple']]);
      await environments.install('made-later', ['apple']);
      await wrapped.look();
      expect(missing()).toEqual([[], []]);
      expect(problems()).toEqual({ 'a.tools.json': null, 'b.tools.json': null });
      await environments.delete({ venvName: 'made-later', confirm: true });
      await wrapped.look();
      expect(problems()).toEqual({ 'a.tools.json': isMissing, 'b.tools.json': isMissing });
    });
  });

  test('a profile that is missing is told, and the tools are known all the same', async () => {
    const { names, problems } = await offered(hello({ profile: 'nobody' }));
    expect(names()).toEqual(['hello']);
    expect(problems()['a.tools.json']).toMatch(/There is no profile "nobody"/);
  });

  test('what a tools file says of imports and modules is looked up anew', async () => {
    const { wrapped } = await offered({ ...hello({ missingImports: ['gone'], modules: ['old.py'] }) });
    expect(wrapped.scripts[0]!.inUse!.tools).toMatchObject({ missingImports: ['apple'], modules: [] });
  });
});

describe('changes', () => {
  test('a module beside the script, and one that comes later', async () => {
    const { wrapped, folder } = await offered({
      'a.py': 'import _helper\n\ndef value() -> int:\n    """Give."""\n    return _helper.VALUE\n',
    });
    const value = async () => {
      const tool = wrapped.tools.get('value')!;
      return (await pungi.run(await wrappedCall(tool, {}))).value?.json;
    };
    expect(await value()).toBeUndefined();
    write(folder, { '_helper.py': 'VALUE = 1\n' });
    await until(async () => (await value()) === 1, 'the new module is used');
    write(folder, { '_helper.py': 'VALUE = 2\n' });
    await until(async () => (await value()) === 2, 'the changed module is used');
  });

  test('files that are to go along with a script, as they are now', async () => {
    const code = py`
      import pathlib

      def hello() -> list[str]:
          """Say."""
          pages = sorted(pathlib.Path(__file__).parent.glob("pages/*"))
          return [open("data.csv").read(), *(page.read_text() for page in pages)]
    `;
    const { wrapped, folder } = await offered({
      'boxed/in.py': code,
      'boxed/data.csv': 'one',
      'boxed/pages/a.html': 'A',
      'boxed/tools.json': toolsFile('in.py', { sha256: sha256(code), include: ['data.csv', 'pages'] }),
    });
    const value = async () =>
      (await pungi.run(await wrappedCall(wrapped.tools.get('hello')!, {}))).value?.json;
    expect(await value()).toEqual(['one', 'A']);
    write(folder, { 'boxed/data.csv': 'two', 'boxed/pages/b.html': 'B' });
    await wrapped.look();
    expect(await value()).toEqual(['two', 'A', 'B']);
  });

  test('a script elsewhere that is saved by renaming', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const { names } = await offered({ 'far.tools.json': toolsFile(join(elsewhere, 'far.py')) });
    write(elsewhere, { 'new.py': say('hello') + say('more') });
    renameSync(join(elsewhere, 'new.py'), join(elsewhere, 'far.py'));
    await until(() => names().includes('more'), 'the new script is used');
  });

  test('a registered script that is broken from the start is used once it is mended', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': 'def hello(:\n' });
    const { names } = await offered({ 'far.tools.json': toolsFile(join(elsewhere, 'far.py')) });
    expect(names()).toEqual([]);
    write(elsewhere, { 'far.py': say('hello') });
    await until(() => names().includes('hello'), 'the mended script is used');
  });

  test('a script that disappears takes its tools with it, a registered one as well', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const { names, folder, problems } = await offered({
      'far.tools.json': toolsFile(join(elsewhere, 'far.py')),
      'a.py': say('near'),
    });
    expect(names().sort()).toEqual(['hello', 'near']);
    rmSync(join(folder, 'a.py'));
    rmSync(join(elsewhere, 'far.py'));
    await until(() => names().length === 0, 'the tools are gone');
    expect(problems()).toEqual({ 'far.tools.json': expect.stringMatching(/no such file/) });
  });

  test('listeners are told of other tools, not of other code', async () => {
    const { wrapped, folder, names } = await offered({ 'a.py': say('hello', 'one') });
    let told = 0;
    wrapped.onChange(() => {
      told += 1;
    });
    const sha = () => wrapped.tools.get('hello')?.script.code;
    write(folder, { 'a.py': say('hello', 'two') });
    await until(() => sha()?.includes('two'), 'the new code is used');
    expect(told).toBe(0);
    write(folder, { 'a.py': say('bye') });
    await until(() => names().includes('bye'), 'the new tool is there');
    expect(told).toBe(1);
  });

  test('the same code is looked at once, however often it is saved', async () => {
    const looked: string[] = [];
    const loaded: string[] = [];
    const side = {
      discover: (request: Parameters<Pungi['discover']>[0]) => {
        looked.push(request.filename);
        return pungi.discover(request);
      },
      inspect: (request: Parameters<Pungi['inspect']>[0]) => {
        loaded.push(request.filename!);
        return pungi.inspect(request);
      },
      probe: pungi.probe.bind(pungi),
      profiles: pungi.profiles,
      environments: pungi.environments,
    };
    const { wrapped, folder } = await offered({ 'a.py': say('hello'), 'b.py': say('hello') }, { side });
    expect(looked.sort()).toEqual(['a.py', 'b.py']);
    write(folder, { 'a.py': say('hello') });
    await wrapped.look();
    write(folder, { 'a.py': say('hello', 'other') });
    await wrapped.look();
    write(folder, { 'a.py': say('hello') });
    await wrapped.look();
    expect(looked.slice(2)).toEqual(['a.py']);
    expect(loaded.sort()).toEqual(['a.py', 'a.py', 'b.py']);
  });
});
