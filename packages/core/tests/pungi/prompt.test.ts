import { describe, expect, test } from 'vitest';
import type { Pungi } from '../../../pungi/src/index.js';
import { openTrailForReading } from '../../../pungi/src/index.js';
import { readCompletion } from '../../src/engine/completion.js';
import {
  ANN,
  BEN,
  expectOk,
  SANDBOXES,
  sharedPungis,
  temporaryFolder,
  verdictOf,
  withPungi,
} from '../engine/pungi.js';

const pungis = sharedPungis();

async function startSession(pungi: Pungi, first: string) {
  const outcome = await pungi.run({ code: first, session: 'new', interactive: true }, ANN);
  expectOk(outcome);
  const session = outcome.session!.id;
  const run = (code: string) => pungi.run({ code, session, interactive: true }, ANN);
  const complete = async (code: string) => (await pungi.complete({ code, session }, ANN)).completions;
  return { session, run, complete, end: () => pungi.endSession(session, ANN.caller) };
}

describe.each(SANDBOXES)('at a prompt in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('every expression prints its value, _ is the last one, and None prints nothing', async () => {
    const { run, end } = await startSession(pungi, '6 * 7');
    expect((await run('_ + 1; "text"')).stdout.text).toBe("43\n'text'\n");
    expect((await run('for each in range(2): each')).stdout.text).toBe('0\n1\n');
    expect((await run('None')).stdout.text).toBe('');
    expect((await run('import asyncio\nawait asyncio.sleep(0, 5)')).stdout.text).toBe('5\n');
    expect((await run('"""a docstring elsewhere"""')).stdout.text).toBe("'a docstring elsewhere'\n");
    expect((await run('from __future__ import annotations\nprint("x")')).stdout.text).toBe('x\n');
    const failed = await run('def broken(): return 1 / 0\nbroken()');
    expect(verdictOf(failed, 'python-error').exception.traceback).toContain('def broken(): return 1 / 0');
    end();
  });

  test('an exit is not the end of the code, and the session goes on', async () => {
    const { run, end } = await startSession(pungi, 'x = 1');
    expect((await run('import sys; sys.exit()')).value).toMatchObject({ type: 'SystemExit' });
    expect(verdictOf(await run('sys.exit(3)'), 'exited').status).toBe(3);
    expect((await run('x')).stdout.text).toBe('1\n');
    end();
  });

  test('names, attributes, keys and modules complete a line, from what the session has', async () => {
    const { complete, end } = await startSession(
      pungi,
      'class Box:\n    wide = 1\nbox = Box()\nbox.weight = 2\ntable = {"first row": {"x": 1}, "fold": 2}\nimport os',
    );
    expect(await complete('print(bo')).toEqual(['bool', 'box']);
    expect(await complete('x = box.w')).toEqual(['weight', 'wide']);
    expect(await complete('os.path.joi')).toEqual(['join']);
    expect(await complete('table["fir')).toEqual(['first row"]']);
    expect(await complete('import collec')).toEqual(['collections']);
    expect(await complete('from os import getc')).toContain('getcwd');
    expect(await complete('import xml.')).toContain('dom');
    expect(await complete('from xml.et')).toEqual(['etree']);
    expect(await complete('from os im')).toEqual(['import']);
    expect(await complete('missing.a')).toEqual([]);
    expect(await complete('box.__class')).toEqual(['__class__']);
    end();
  });

  test('completions change nothing: neither variables, nor numbers of calls and files', async () => {
    const { run, complete, session, end } = await startSession(
      pungi,
      'import sys\nclass Box:\n    @property\n    def opened(self): log.append(1)\nlog = []; box = Box()\nbefore = set(globals()), set(sys.modules)',
    );
    for (const line of ['box.o', 'import nu', 'from xml.dom import ', 'log.']) await complete(line);
    const { stdout } = await run(
      'import os\nprint(log, set(globals()) - before[0] - {"before", "os"}, set(sys.modules) - before[1], sorted(os.listdir()))',
    );
    expect(stdout.text).toBe("[] set() set() ['main.py', 'main_2.py']\n");
    expect(pungi.sessions(ANN.caller).find(({ id }) => id === session)).toMatchObject({ calls: 2 });
    end();
  });

  test('foreign code that hangs, raises or exits while a line is completed does not end the session', async () => {
    const { run, complete, end } = await startSession(
      pungi,
      [
        'class Hanging:\n    def __dir__(self):\n        while True: pass',
        'class Raising:\n    def __dir__(self): raise SystemExit',
        'class Odd:\n    def __dir__(self): return ["a\\x1b[2J", "b" * 10**6, "fine"]',
        'hanging, raising, odd, kept = Hanging(), Raising(), Odd(), 7',
        'globals()["gl\\x1b]0;title\\x07"] = 1',
      ].join('\n'),
    );
    expect(await complete('hanging.')).toEqual([]);
    expect(await complete('raising.')).toEqual([]);
    expect(await complete('odd.')).toEqual(['fine']);
    expect(await complete('gl')).toEqual(['global', 'globals']);
    expect((await run('kept')).stdout.text).toBe('7\n');
    end();
  });

  test('a session that ends while a line is completed says so', async () => {
    const { run, complete } = await startSession(
      pungi,
      'import os\nclass Fatal:\n    def __dir__(self): os._exit(3)\nfatal = Fatal()',
    );
    expect(await complete('fatal.')).toEqual([]);
    expect(verdictOf(await run('1'), 'no-session').message).toContain('It ended while a line was completed.');
  });

  test('nobody else completes from a session', async () => {
    const { session, end } = await startSession(pungi, 'secret = 1');
    await expect(pungi.complete({ code: 'sec', session }, BEN)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    end();
  });

  test('a line completes before there is a session', async () => {
    expect(await pungi.complete({ code: 'prin' }, ANN)).toEqual({ completions: ['print'], length: 4 });
    expect((await pungi.complete({ code: 'import js' }, ANN)).completions).toContain('json');
  });
});

test.each([
  ['x = 1', true, true],
  ['def f():', false, false],
  ['def f():\n    return 1', false, true],
  ['def f():\n    return 1\n', true, true],
  ['x = (1,', false, false],
  ['if x:\n    1\nelse:', false, false],
  ['async with x:\n    1', false, true],
  ["'''open", false, false],
  ['1 +', true, true],
  ['@decorated', false, false],
])('%j is whole when typed: %s, when pasted: %s', async (code, typed, pasted) => {
  expect((await pungis.namespace.readPrompt({ code, isTyped: true })).isWhole).toBe(typed);
  expect((await pungis.namespace.readPrompt({ code })).isWhole).toBe(pasted);
});

test('statements are separated by their last lines', async () => {
  const code = '# note\nx = 1; y = """\n"""\n@staticmethod\ndef f():\n    pass\n\nf';
  expect((await pungis.namespace.readPrompt({ code })).ends).toEqual([3, 6, 8]);
  expect((await pungis.namespace.readPrompt({ code: 'x = = 1' })).ends).toEqual([]);
});

test('completions are not recorded', async () => {
  const env = { AUDIT: 'true', AUDIT_DIR: temporaryFolder() };
  await withPungi(env, async (pungi) => {
    const { complete, run } = await startSession(pungi, 'x = 1');
    await complete('x');
    await pungi.readPrompt({ code: 'x' });
    await run('x');
    const trail = await openTrailForReading(env.AUDIT_DIR);
    const runs = trail.list().filter(({ kind }) => kind === 'run');
    trail.close();
    expect(runs.map(({ data }) => data)).toMatchObject([{ session: { call: 2 } }, { session: { call: 1 } }]);
  });
});

test('forged completions are dropped', () => {
  expect(readCompletion({ completions: 'all', length: 'long' })).toEqual({ completions: [], length: 0 });
  expect(readCompletion({ completions: [{}, 'a\nb', '\u202Ex', '\ud800', 'ok'], length: -1 })).toEqual({
    completions: ['ok'],
    length: 0,
  });
  expect(readCompletion({ completions: Array(5000).fill('x') }).completions).toHaveLength(1000);
});

test('a profile with rules is refused before the prompt', async () => {
  const line = { code: '', session: 'new', profile: 'strategic' };
  await expect(pungis.namespace.complete(line)).rejects.toThrow('it allows no sessions');
});
