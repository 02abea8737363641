import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { textsOf } from './calls.js';
import { type Listener, listenOverHttp } from './wrapped-listener.js';

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const folder = join(mkdtempSync(join(temporaryFolder(), 'x')), 'tools');
mkdirSync(folder);
writeFileSync(
  join(folder, 'large.py'),
  `def promised() -> list[str]:
    """Give too much, against a promise."""
    return ["x" * 1000] * 20_000


def unpromised():
    """Give too much."""
    return ["x" * 1000] * 20_000


def wrong() -> int:
    """Promise a number."""
    return "no number " * 10_000


def chatty() -> int:
    """Print much."""
    print("first line")
    for number in range(20_000):
        print("line", number)
    print("last line")
    return 7


def shows() -> int:
    """Show a picture."""
    display({"image/png": "${PNG}"}, raw=True)
    return 8
`,
);

let listener: Listener;
beforeAll(async () => {
  listener = await listenOverHttp('modern', { TOOLS_DIR: folder });
});
afterAll(() => listener.close());

const call = async (name: string) => {
  const result = await listener.client.callTool({ name });
  return { ...result, texts: textsOf(result) };
};

test('of a value that is too large the reason comes first, then how it begins', async () => {
  const { texts, isError } = await call('unpromised');
  expect(isError ?? false).toBe(false);
  expect(texts[0]).toMatch(/^Note: the value is larger than \d+ bytes/);
  expect(texts[1]).toMatch(/^\['xxxx/);
  expect(texts[1]!.length).toBeLessThan(1200);
});

test.each([
  [
    'promised',
    /^promised ran, but [^\n]+\n- there is no value as JSON: the value is larger than/,
    /^\['xxxx/,
  ],
  [
    'wrong',
    /^wrong ran, but [^\n]+\n- result: expected a whole number, got the text "no number/,
    /^'no number/,
  ],
])(
  'a value of %s, which is not what was promised, is an error with the reason first',
  async (name, why, how) => {
    const { texts, isError } = await call(name);
    expect(isError).toBe(true);
    expect(texts[0]).toMatch(why);
    expect(texts[1]).toMatch(how);
    expect(texts.join('').length).toBeLessThan(2500);
  },
);

test('of much text beside a value there are the head and the tail', async () => {
  const { texts, structuredContent } = await call('chatty');
  expect(structuredContent).toEqual({ result: 7 });
  expect(texts[0]).toBe('7');
  expect(texts[1]).toMatch(/^stdout:\nfirst line\n[\s\S]*characters cut[\s\S]*last line\n$/);
  expect(texts[1]!.length).toBeLessThan(9000);
});

test('a profile that is missing is no fault of the arguments', async () => {
  const script = 'def placed(x: int) -> int:\n    """Give."""\n    return x\n';
  writeFileSync(join(folder, 'placed.py'), script);
  const file = {
    ...{ version: 1, name: 'placed', description: '', script: 'placed.py', sha256: '', mode: 'auto' },
    ...{ environment: null, profile: 'nobody', dependencies: [], requiresPython: null, missingImports: [] },
    ...{ modules: [], tools: [], remarks: [] },
  };
  writeFileSync(join(folder, 'placed.tools.json'), JSON.stringify(file));
  const { client } = listener;
  await expect
    .poll(async () => (await client.listTools()).tools.some(({ name }) => name === 'placed'))
    .toBe(true);
  const result = await client.callTool({ name: 'placed', arguments: { x: 1 } });
  expect(result.isError).toBe(true);
  expect(textsOf(result)[0]).toMatch(/^INVALID_INPUT: There is no profile "nobody"\./);
  const { structuredContent } = await client.callTool({ name: 'list_wrapped' });
  expect(structuredContent).toMatchObject({
    scripts: [{}, { name: 'placed', problem: expect.stringMatching(/There is no profile "nobody"/) }],
  });
});

test('a picture that a function shows comes with its value', async () => {
  const { content, structuredContent } = await call('shows');
  expect(structuredContent).toEqual({ result: 8 });
  expect(content).toEqual([
    { type: 'text', text: '8' },
    { type: 'image', data: PNG, mimeType: 'image/png' },
  ]);
});
