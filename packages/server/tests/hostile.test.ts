import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INPUTS } from '../../../tests/fixtures/hostile/inputs.mjs';
import { OUTPUTS } from '../../../tests/fixtures/hostile/outputs.mjs';
import { newClient } from './doors.js';
import { RawHttpServer, type RawReply } from './raw-http-server.js';

/** What the server may hold after all of it: bodies and replies are megabytes each, and garbage is collected late. */
const MOST_MB = 700;
const SEED = 12;
/** As many as the server runs at the same time. */
const AT_ONCE = 5;

let server: RawHttpServer;
let other: ReturnType<typeof newClient>;
beforeAll(async () => {
  server = await RawHttpServer.start({ EXECUTION_TIMEOUT_MS: '30000', MAX_PROCESSES: '64' });
  other = newClient('legacy', 'other');
  await other.connect(new StreamableHTTPClientTransport(new URL(server.url)));
});
afterAll(async () => {
  await other.close();
  await server.close();
});

/** A result, or an error with a code and a sentence that does not repeat megabytes. */
function expectValid(reply: RawReply, id = 7): void {
  expect(reply.jsonrpc).toBe('2.0');
  expect([id, null]).toContain(reply.id);
  if (reply.error === undefined) expect(reply.result).toBeTypeOf('object');
  else expect(reply.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
}

/** How the run ended. */
function verdictOf({ result }: RawReply): unknown {
  const { _meta } = result as { _meta: { 'pungi/outcome': { verdict: { kind: string } } } };
  return { kind: _meta['pungi/outcome'].verdict.kind };
}

async function expectWell(): Promise<void> {
  expect(server.isAlive).toBe(true);
  expect(await other.ping()).toEqual({});
  expect(server.rssMb).toBeLessThan(MOST_MB);
}

test.each(Object.keys(INPUTS))('%s: answered, and another client is served', async (name) => {
  expectValid(await server.send(INPUTS[name]!()));
  await expectWell();
});

test.each(Object.keys(OUTPUTS))('%s: answered, and another client is served', async (name) => {
  const reply = await server.run(OUTPUTS[name]!);
  expectValid(reply);
  expect(verdictOf(reply)).toEqual({ kind: expect.any(String) });
  await expectWell();
});

describe('fuzzed', () => {
  const TOOLS = [
    ...['execute_python', 'execute_python_file', 'execute_strategic_code', 'list_venvs', 'list_packages'],
    ...['create_venv', 'delete_venv', 'set_venv_description', 'install_packages', 'uninstall_packages'],
    ...['list_profiles', 'health_check', 'nothing', '__proto__', 'toString'],
  ];
  const NAMES = [
    ...['code', 'filePath', 'profile', 'venvName', 'inputData', 'stdin', 'argv', 'files', 'context', 'env'],
    ...['timeoutMs', 'memoryMb', 'fresh', 'packages', 'persona', 'capability', 'description', 'limits'],
    ...['__proto__', 'constructor', '', 'ż', 'x'.repeat(300)],
  ];
  /** JSON as text, with what JSON.stringify would never write. */
  const raw: fc.Arbitrary<string> = fc.oneof(
    { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)) },
    fc.constantFrom(
      '1e999',
      '-1e999',
      '-0',
      '9007199254740993',
      '1e-400',
      'NaN',
      'Infinity',
      '01',
      'nul',
      '',
    ),
    fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '{"a":1,"a":2}', '{"__proto__":{"a":1}}'),
    fc.integer({ min: 1, max: 700 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
    fc.integer({ min: 1, max: 700 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    fc.integer({ min: 1, max: 3000 }).map((size) => `[${Array(size).fill('""').join()}]`),
    fc
      .integer({ min: 1, max: 3000 })
      .map((size) => `{${Array.from({ length: size }, (_, n) => `"k${n}":${n}`).join()}}`),
    fc.integer({ min: 1, max: 300_000 }).map((size) => JSON.stringify('ż\n'.repeat(size))),
    fc.constantFrom(
      '"print(1)"',
      '"1/0"',
      '"import os; os._exit(3)"',
      '["a"]',
      '{"LANG":"C"}',
      '"../../etc/passwd"',
    ),
  );
  const args = fc
    .array(fc.tuple(fc.constantFrom(...NAMES), raw), { maxLength: 5 })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`);
  const call = fc
    .tuple(fc.constantFrom(...TOOLS), fc.oneof({ weight: 6, arbitrary: args }, raw))
    .map(
      ([tool, given]) =>
        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${given}}}`,
    );

  test('calls are each answered: 500 of them, of every shape', { timeout: 300_000 }, async () => {
    for (const message of fc.sample(call, { numRuns: 500, seed: SEED })) {
      expectValid(await server.send(message));
    }
    await expectWell();
  });

  /** Writes of bytes to both streams, in pieces, by several processes. */
  const program = fc
    .record({
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => [...bytes]),
        fc.constantFrom(
          [10],
          [13, 10],
          [0],
          [255],
          [27, 91, 51, 49, 109],
          [240, 159, 144],
          [226, 130, 172],
          [120],
        ),
      ),
      times: fc.constantFrom(1, 1000, 20_000),
      writes: fc.constantFrom(1, 20, 3000),
      processes: fc.constantFrom(1, 1, 1, 3),
      streams: fc.constantFrom('1', '2', '1 + n % 2'),
      ending: fc.constantFrom(
        '',
        'raise ValueError(data[:100_000])',
        'data[:1000]',
        '[[n] * 50] * 200',
        'os._exit(9)',
      ),
    })
    .map(
      ({ bytes, times, writes, processes, streams, ending }) => `import os
data = bytes(${JSON.stringify(bytes)}) * ${times}
pieces = max(1, min(${writes}, 500_000 // len(data)))
for _ in range(${processes} - 1): os.fork()
for n in range(pieces): os.write(${streams}, data)
${ending}`,
    );

  test('outputs are each told: 200 of them, of every shape', { timeout: 300_000 }, async () => {
    const programs = fc.sample(program, { numRuns: 200, seed: SEED });
    for (let first = 0; first < programs.length; first += AT_ONCE) {
      const together = programs.slice(first, first + AT_ONCE).map(async (code, index) => {
        const reply = await server.run(code, 100 + index);
        expectValid(reply, 100 + index);
        expect(verdictOf(reply)).toEqual({ kind: expect.any(String) });
      });
      await Promise.all(together);
    }
    await expectWell();
  });
});
