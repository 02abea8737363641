import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { publicInterpreter, temporaryFolder } from '../../../tests/support/places.js';
import { Discovery } from '../../core/src/contract/wrap.js';
import type { Engine } from '../../core/src/engine/engine.js';
import { readInspection } from '../../core/src/pungi/discovery.js';
import { jobOf, sharedEngine } from '../../core/tests/engine/engine.js';
import { type Expectation, expectationOf, scriptNames, shorten, sourceOf } from './script-corpus.js';

const MARKER = 'corpus-marker.txt';

/** As Pungi inspects it: read alone where it cannot be loaded. */
async function look(
  engine: Engine,
  name: string,
  expected: Expectation,
  code?: string,
): Promise<Expectation> {
  const { encoding, since, needs, absent } = expected;
  const about = {
    ...(encoding && { encoding }),
    ...(since && { since }),
    ...(needs && { needs }),
    ...(absent && { absent }),
  };
  const job = jobOf(code ?? sourceOf(name, encoding), { filename: name });
  const read = await engine.discover(job);
  if ('exception' in read) {
    const { type, line } = read.exception;
    return { ...about, exception: { type, ...(line !== null && { line }) } };
  }
  const { discovery, problem } = readInspection(await engine.run({ job: { ...job, inspect: true } }), name);
  return { ...about, ...shorten(discovery ?? { ...read, problem }) };
}

const FIND = 'import importlib.util\n[name for name in context if importlib.util.find_spec(name)]';

/** Which of these packages the interpreter of the tests has. */
async function installed(engine: Engine, names: string[]): Promise<string[]> {
  const { value } = await engine.run({ job: jobOf(FIND, { variables: { context: names } }) });
  return z.array(z.string()).parse(value?.json);
}

const olderThan = (version: string, [major, minor]: [number, number]) => {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number);
  return itsMajor < major || (itsMajor === major && itsMinor < minor);
};

describe('scripts of the kinds that people have, read in the sandbox', () => {
  const engine = sharedEngine();

  test('there are more than forty', () => expect(scriptNames.length).toBeGreaterThan(40));

  test.for(scriptNames)('%s', async (name, { skip }) => {
    const expected = expectationOf(name);
    const { interpreter, tier } = await engine.started;
    expect(tier).not.toBe('process');
    const { needs = [], absent = [] } = expected;
    // Where packages are installed, a script that needs them has more to show, and is another case.
    const present = await installed(engine, [...needs, ...absent]);
    if (present.toString() !== needs.toString())
      skip(`it needs [${needs}] and not [${absent}], and the interpreter has [${present}]`);
    const found = await look(engine, name, expected);
    if (expected.since && olderThan(interpreter.version, expected.since))
      expect(found.exception?.type).toBe('SyntaxError');
    else expect(found).toEqual(expected);
  });

  test('what is found is what the contract says, to the letter', async () => {
    const name = 'argparse_subcommands.py';
    const job = { ...jobOf(sourceOf(name), { filename: name }), inspect: true };
    const found = (await engine.run({ job })).value?.json;
    expect(Discovery.parse(found)).toEqual(found);
    expect(found).toMatchObject({
      scripts: [{ name: 'argparse_subcommands_add', kind: 'script' }, {}, {}, {}],
    });
  });

  test('text that no compiler takes is told as an exception with its place', async () => {
    const found = await engine.discover(jobOf('x = 1\nx = = 2\n', { filename: 'hasty.py' }));
    expect(found).toMatchObject({ exception: { type: 'SyntaxError', line: 2, column: 5, text: 'x = = 2' } });
  });
});

const python = await publicInterpreter();

describe.skipIf(python === '')('a script that only does its work is not run to find its tools', () => {
  // Without a sandbox a file that a script writes would be there to be seen.
  const engine = sharedEngine({ tier: 'process', allowUnsandboxed: true, python });
  const folder = temporaryFolder();
  chmodSync(folder, 0o777); // as root, scripts run as somebody else
  const marker = join(folder, MARKER);
  const marking = (name: string) => sourceOf(name).replaceAll(MARKER, marker);

  test.each(['effect_endless.py', 'effect_exits.py', 'effect_subprocess.py'])('%s', async (name) => {
    expect(marking(name)).toContain(marker);
    await look(engine, name, {}, marking(name));
    expect(existsSync(marker)).toBe(false);
  });

  test.each(['effect_writes_file.py', 'effect_in_decorator.py', 'effect_exits.py'])(
    '%s leaves its mark where it is run',
    async (name) => {
      await engine.run({ job: jobOf(marking(name)) });
      expect(existsSync(marker)).toBe(true);
      rmSync(marker);
    },
  );
});
