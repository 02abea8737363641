import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publicInterpreter, temporaryFolder } from '../../../tests/support/places.js';
import { Discovery } from '../../core/src/contract/wrap.js';
import type { Engine } from '../../core/src/engine/engine.js';
import { jobOf, sharedEngine } from '../../core/tests/engine/engine.js';
import { type Expectation, expectationOf, scriptNames, shorten, sourceOf } from './script-corpus.js';

const MARKER = 'corpus-marker.txt';
const EFFECTS = scriptNames.filter((name) => name.startsWith('effect_'));

async function look(
  engine: Engine,
  name: string,
  expected: Expectation,
  code?: string,
): Promise<Expectation> {
  const { encoding, since } = expected;
  const about = { ...(encoding && { encoding }), ...(since && { since }) };
  const found = await engine.discover(jobOf(code ?? sourceOf(name, encoding), { filename: name }));
  if (!('exception' in found)) return { ...about, ...shorten(found) };
  const { type, line } = found.exception;
  return { ...about, exception: { type, ...(line !== null && { line }) } };
}

const olderThan = (version: string, [major, minor]: [number, number]) => {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number);
  return itsMajor < major || (itsMajor === major && itsMinor < minor);
};

describe('scripts of the kinds that people have, read in the sandbox', () => {
  const engine = sharedEngine();

  test('there are more than forty', () => expect(scriptNames.length).toBeGreaterThan(40));

  test.each(scriptNames)('%s', async (name) => {
    const expected = expectationOf(name);
    const { interpreter, tier } = await engine.started;
    expect(tier).not.toBe('process');
    const found = await look(engine, name, expected);
    if (expected.since && olderThan(interpreter.version, expected.since))
      expect(found.exception?.type).toBe('SyntaxError');
    else expect(found).toEqual(expected);
  });

  test('what is found is what the contract says, to the letter', async () => {
    const found = await engine.discover(jobOf(sourceOf('typer_app.py'), { filename: 'typer_app.py' }));
    expect(Discovery.parse(found)).toEqual(found);
    expect(found).toMatchObject({ scripts: [{ name: 'typer_app_record', kind: 'script' }, {}, {}] });
  });

  test('text that no compiler takes is told as an exception with its place', async () => {
    const found = await engine.discover(jobOf('x = 1\nx = = 2\n', { filename: 'hasty.py' }));
    expect(found).toMatchObject({ exception: { type: 'SyntaxError', line: 2, column: 5, text: 'x = = 2' } });
  });
});

const python = await publicInterpreter();

describe.skipIf(python === '')('nothing of a script is run by looking at it', () => {
  // Without a sandbox a file that a script writes would be there to be seen.
  const engine = sharedEngine({ tier: 'process', allowUnsandboxed: true, python });
  const folder = temporaryFolder();
  chmodSync(folder, 0o777); // as root, scripts run as somebody else
  const marker = join(folder, MARKER);
  const marking = (name: string) => sourceOf(name).replaceAll(MARKER, marker);

  test.each(EFFECTS)('%s', async (name) => {
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
