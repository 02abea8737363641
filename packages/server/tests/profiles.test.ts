import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { execute, textsOf } from './calls.js';
import { behindTwoDoors } from './doors.js';

const folder = temporaryFolder();
mkdirSync(join(folder, 'sales-of-2030'));
const file = join(folder, 'profiles.yaml');
writeFileSync(
  file,
  `
profiles:
  figures:
    description: Figures only
    limits: { memoryMb: 128, timeoutMs: 99000 }
    allowedImports: [math, json]
    outputStyle: value
    templateVars: { currency: EUR }
    workspace: [{ name: sales, path: sales-of-2030 }]
    cacheTtl: 60
  brief:
    description: Short replies
    blockedImports: [os]
    outputStyle: brief
  open:
    network: { allow: [example.org] }
`,
);
const SETTINGS = { PROFILES_FILE: file, ALLOWED_PROFILES: 'default,figures,brief', MAX_MEMORY_MB: '256' };

behindTwoDoors(SETTINGS, (door) => {
  test('the profiles that a caller may use are listed with their rules', async () => {
    const answered = await door().client.callTool({ name: 'list_profiles' });
    const { profiles } = answered.structuredContent as { profiles: Record<string, unknown>[] };
    expect(profiles.map(({ name }) => name)).toEqual(['default', 'figures', 'brief']);
    expect(profiles[0]).toMatchObject({
      isDefault: true,
      isPersona: false,
      allowedImports: null,
      cacheTtl: 0,
    });
    expect(profiles[1]).toMatchObject({
      isDefault: false,
      description: 'Figures only',
      limits: { memoryMb: 128, timeoutMs: 30_000 },
      allowedImports: ['math', 'json'],
      variables: ['currency'],
      data: ['sales'],
      allowedHosts: [],
      cacheTtl: 60,
      outputStyle: 'value',
    });
    const [text] = textsOf(answered);
    expect(text).toMatch(/^default \(default\) {2}/);
    expect(text).toMatch(
      /^figures {2}Figures only {2}30 s, 128 MB {2}imports only math, json {2}data data\/sales {2}outcomes kept for 60 s$/m,
    );
    expect(text).toMatch(/^brief {2}Short replies {2}30 s, 256 MB {2}not os$/m);
    expect(JSON.stringify(answered)).not.toContain('sales-of-2030');
  });

  test('without personas there is neither the tool nor the prompt for them', async () => {
    const { client } = door();
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('execute_strategic_code');
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).not.toContain('strategic-analysis');
  });

  test('code runs under the profile that is named, and else under the default one', async () => {
    const { client } = door();
    const named = await execute(client, { code: 'currency', profile: 'figures', fresh: true });
    expect(named.outcome).toMatchObject({ profile: 'figures', value: { json: 'EUR' }, cached: null });
    expect((await execute(client, { code: '1' })).outcome.profile).toBe('default');
    const refused = await execute(client, { code: 'import os', profile: 'figures' });
    expect(refused.outcome.verdict).toMatchObject({ kind: 'denied', violations: [{ line: 1, what: 'os' }] });
    expect(refused.isError).toBe(true);
  });

  test('the style of the profile decides what the text shows', async () => {
    const { client } = door();
    const code = 'print("printed")\n7';
    expect((await execute(client, { code })).texts).toEqual(['printed\n', '7']);
    expect((await execute(client, { code, profile: 'figures', fresh: true })).texts).toEqual(['7']);
    const warning = 'import sys\nprint("printed")\nprint("warned", file=sys.stderr)';
    expect((await execute(client, { code: warning, profile: 'brief' })).texts).toEqual(['printed\n']);
    const failed = await execute(client, { code: 'def f():\n  return 1 / 0\nf()', profile: 'brief' });
    expect(failed.texts[0]).toMatch(/^PYTHON_ERROR: .*ZeroDivisionError/);
    expect(failed.texts[0]).not.toContain('Traceback');
  });

  test('a kept outcome is marked as such, and not counted as an execution', async () => {
    const { client } = door();
    const code = '[3] * 3';
    const first = await execute(client, { code, profile: 'figures', fresh: true });
    const again = await execute(client, { code, profile: 'figures' });
    expect(again.outcome.cached?.runId).toBe(first.outcome.runId);
    expect(again.texts).toEqual([expect.stringMatching(/^Not run again: /), '[3, 3, 3]']);
  });

  test.each([
    ['an unknown profile', 'figure', /^INVALID_INPUT: .*"figure".*figures/],
    ['a profile that may not be used', 'open', /^DENIED: .*"open".*figures/],
  ])('%s is refused with those that there are', async (_what, profile, words) => {
    const { texts, isError } = await execute(door().client, { code: '1', profile });
    expect(isError).toBe(true);
    expect(texts[0]).toMatch(words);
  });
});
