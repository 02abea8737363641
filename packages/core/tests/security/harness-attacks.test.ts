import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { findsSpec } from '../../../harness/src/fuzz/fuzz.js';
import { FirstSpecWriter, specText } from '../../../harness/src/init/first-spec.js';
import { readOffer } from '../../../harness/src/init/offer.js';

import { exampleInput } from '../../../harness/src/inputs/example.js';
import { generate, Random } from '../../../harness/src/inputs/generate.js';
import { compileSchema, judgeForeignSchema } from '../../../harness/src/judge/schema.js';
import { SnapshotStore, snapshotFile } from '../../../harness/src/judge/snapshots.js';
import { lint } from '../../../harness/src/lint/lint.js';
import { Recorder, recordedSpec } from '../../../harness/src/record/recorder.js';
import { connectServer } from '../../../harness/src/run/connect.js';
import { boundedFetch } from '../../../harness/src/run/http-transport.js';
import type { ServerFault } from '../../../harness/src/run/server-fault.js';
import { Traffic } from '../../../harness/src/run/traffic.js';
import { faultText } from '../../../harness/src/spec/fault.js';
import { loadSpecification } from '../../../harness/src/spec/load.js';
import { fixture, messagesOf, run } from '../../../harness/tests/run/suites.js';
import { ServerUnderTest } from '../../src/contract/spec.js';
import { CALLS, LISTINGS, NAMES, SCHEMAS, SPECIFICATIONS } from './harness-attacks.js';

const server = (...args: string[]) => ({
  command: process.execPath,
  args: [fixture('hostile.mjs'), ...args],
});
const folder = () => mkdtempSync(join(tmpdir(), 'pungi-hostile-'));
const signal = new AbortController().signal;
const ask = { timeoutMs: 20_000, signal };
const connect = (...args: string[]) =>
  connectServer(ServerUnderTest.parse(server(...args)), {
    environment: process.env,
    folder: tmpdir(),
    python: undefined,
  });

/** Empty where there is none, or it only waits to be collected. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const MOST_CHARACTERS = 2_000_000;

describe('a tool whose input is', () => {
  for (const [name, schema] of Object.entries(SCHEMAS))
    test(`${name} costs init, fuzz and lint no more than another`, () => {
      const made = [exampleInput(schema), generate(schema, new Random(7))];
      for (const input of made) expect((JSON.stringify(input) ?? '').length).toBeLessThan(MOST_CHARACTERS);
      const tool = { name: 'work', description: 'Works hard at it.', inputSchema: schema };
      const rest = { instructions: undefined, capabilities: {}, resources: [], templates: [], prompts: [] };
      const about = { name: 's', version: '1', protocol: '' };
      const remarks = lint({ server: about, tools: [tool], problems: [], ...rest });
      expect(remarks.length).toBeLessThan(5000);
    });
});

describe('a promise about the output', () => {
  const from = 'the output schema';
  const long = { a: `${'a'.repeat(60)}!` };

  test('with a pattern that takes hours is given up', () => {
    const schema = { properties: { a: { pattern: '^(a|aa)+$' } } };
    const [failure] = judgeForeignSchema({ from, schema }, long, 50);
    expect(failure?.message).toMatch(/could not be judged by the output schema within 0\.05 seconds/);
  });

  test('that leads in a circle is told', () => {
    const schema = { anyOf: [{ $ref: '#' }] };
    const [failure] = judgeForeignSchema({ from, schema }, long);
    expect(failure?.message).toMatch(/its references form a cycle/);
  });

  test('of thousands of patterns is given up, and those after it are read', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { pattern: `x${index}` }]),
    );
    expect(() => compileSchema({ properties }, true, 20)).toThrow(/too large to be compiled/);
    expect(compileSchema({ type: 'object' }, true)({})).toBe(true);
  });

  test('that holds itself is no fault', () => {
    const validate = compileSchema({ type: 'object', properties: { child: { $ref: '#' } } });
    expect([validate({ child: { child: {} } }), validate({ child: { child: 1 } })]).toEqual([true, false]);
  });
});

describe('a call that is answered with', () => {
  let ended: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    const tests = Object.keys(CALLS).map((way) => ({
      name: way,
      input: { way },
      ...(way.startsWith('a process') ? { capture: { pid: '$[0].text' } } : {}),
    }));
    ended = await run({ server: server(), tools: [{ name: 'work', tests }] });
  });

  for (const [way, says] of Object.entries(CALLS))
    test(`${way} ${says === undefined ? 'passes' : 'fails in words'}`, () => {
      const messages = messagesOf(ended.named(way));
      if (says === undefined) expect(messages).toEqual([]);
      else expect(messages[0]).toMatch(says);
      expect(JSON.stringify(ended.named(way)).length).toBeLessThan(100_000);
    });

  test('such a process leaves none behind', async () => {
    const { response } = ended.named('a process of its own session, without parent and environment');
    const pid = Number((response as { content: [{ text: string }] }).content[0].text);
    expect(pid).toBeGreaterThan(1);
    await until(() => commandOf(pid) === '', 'it is gone');
  });
});

describe('a list of tools', () => {
  for (const [way, says] of Object.entries(LISTINGS))
    test(`that is ${way} is left off, and told`, async () => {
      const connection = await connect(way);
      const offer = await readOffer(connection, ask).finally(() => connection.close());
      expect(offer.problems).toEqual([expect.stringMatching(says)]);
    });

  test('that never comes is told as that, not as a tool that is missing', async () => {
    const { named } = await run(
      { server: server('never'), tools: [{ name: 'work', input_schema: { type: 'object' } }] },
      { timeoutMs: 200 },
    );
    expect(messagesOf(named('input_schema'))).toEqual([
      'The server did not list its tools within 0.2 seconds.',
    ]);
  });

  test('with names that mean something elsewhere is written so that it is read back', async () => {
    const encoded = Buffer.from(JSON.stringify(NAMES)).toString('base64');
    const connection = await connect('names', encoded);
    const written = await readOffer(connection, ask)
      .then((offer) =>
        new FirstSpecWriter(connection, ask, 'read-only').write(offer, server('names', encoded)),
      )
      .finally(() => connection.close());
    const file = join(folder(), 'written.yaml');
    writeFileSync(file, specText([], written.specification));
    const { loaded, faults = [] } = loadSpecification(file, { environment: { SECRET: 'told' } });
    expect(faults.map(faultText)).toEqual([]);
    expect(loaded?.tests.map(({ target }) => target)).toEqual(NAMES);
    expect(loaded?.specification.name).toBe(NAMES[0]);
    expect(loaded?.tests[0]?.skip).toBe(`this input returns an error: ${NAMES[0]}`);
  });
});

test('what fuzzing finds in tools of such names is read back as well', () => {
  const finds = NAMES.map((tool) => ({
    tool,
    input: {},
    isAllowed: true,
    kind: 'server' as const,
    message: tool,
    stderr: '',
  }));
  const about = { name: NAMES[0]!, server: server(), seed: 1, timeoutMs: 1000 };
  const file = join(folder(), 'found.yaml');
  writeFileSync(file, specText([], findsSpec(finds, about)));
  const { loaded, faults = [] } = loadSpecification(file, { environment: { SECRET: 'told' } });
  expect(faults.map(faultText)).toEqual([]);
  expect(loaded?.tests.map(({ target }) => target)).toEqual(NAMES);
});

describe('a recording goes on, and can be written, when a server answers with', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const answers: Record<string, string[]> = {
    'what is nested too deeply': [`{"jsonrpc":"2.0","id":1,"result":{"content":${deep}}}`],
    'an error that is nested too deeply': [`{"jsonrpc":"2.0","id":1,"error":{"code":1,"data":${deep}}}`],
    'an id that is nested too deeply': [`{"jsonrpc":"2.0","id":${deep},"result":{}}`],
    'an id that is no id': ['{"jsonrpc":"2.0","id":{"toString":1},"method":"roots/list"}'],
    'more than anybody keeps': Array(7).fill(
      `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${'x'.repeat(9_000_000)}"}]}}`,
    ),
    'texts that look like references': NAMES.map((text) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }),
    ),
  };
  for (const [way, lines] of Object.entries(answers)) {
    test(way, () => {
      const recorder = new Recorder();
      const call = (id: number, name: string) =>
        recorder.fromClient(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } }));
      const plain = { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'fine' }] } };
      call(2, 'plain');
      recorder.fromServer(JSON.stringify(plain));
      for (const line of lines) {
        call(1, 'odd');
        recorder.fromServer(line);
      }
      const kept = recorder.calls.reduce((sum, { answer }) => sum + JSON.stringify(answer).length, 0);
      expect(kept).toBeLessThan(51_000_000);
      const file = join(folder(), 'recorded.yaml');
      const few = recorder.calls.filter(({ answer }) => JSON.stringify(answer).length < 1_000_000);
      writeFileSync(file, specText([], recordedSpec(few, { name: 'a', server: server(), isExact: true })));
      const { loaded, faults = [] } = loadSpecification(file, { environment: { SECRET: 'told' } });
      expect(faults.map(faultText)).toEqual([]);
      expect(loaded?.tests[0]?.target).toBe('plain');
      expect(JSON.stringify(loaded)).not.toContain('told');
    });
  }
});

test('answers to nobody are a flood like any other', () => {
  const faults: ServerFault[] = [];
  const traffic = new Traffic({ fail: () => {}, abandon: (fault) => faults.push(fault) });
  for (let count = 0; count <= 100_000; count += 1)
    traffic.received({ jsonrpc: '2.0', id: 'no', result: {} });
  expect(faults.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^The server flooded its output: more than 100000 lines/),
  ]);
});

describe('over HTTP', () => {
  const EVENT = `data: ${'x'.repeat(10_000)}\n\n`;
  const endless = { json: '{"a":"xxxxxxxxx', line: 'data: xxxxxxxx', error: 'no such thing' };
  const web = createServer((req, res) => {
    const way = req.url!.slice(1) as keyof typeof endless | 'events';
    const type = way === 'json' ? 'application/json' : 'text/event-stream';
    res.writeHead(way === 'error' ? 500 : 200, { 'content-type': way === 'error' ? 'text/plain' : type });
    if (way === 'events') return res.end(EVENT.repeat(50));
    const flood = () => {
      while (res.write(endless[way].repeat(1000)));
      res.once('drain', flood);
    };
    return flood();
  });
  let address: string;
  beforeAll(async () => {
    await once(web.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    web.closeAllConnections();
    web.close();
  });
  const MOST = 128 * 1024;

  for (const way of Object.keys(endless))
    test(`a message without end is given up: ${way}`, async () => {
      const told: string[] = [];
      const response = await boundedFetch(({ message }) => told.push(message), MOST)(`${address}/${way}`);
      await expect(response.text()).rejects.toThrow(/more than 0\.125 MB as one message/);
      expect(told).toHaveLength(1);
    });

  test('a stream of many events is read to its end', async () => {
    const response = await boundedFetch(() => {}, MOST)(`${address}/events`);
    expect((await response.text()).length).toBe(50 * EVENT.length);
  });
});

describe('a specification with', () => {
  for (const [name, { text, fault }] of Object.entries(SPECIFICATIONS))
    test(`${name} is ${fault === undefined ? 'read' : 'refused in words'}`, () => {
      const place = folder();
      execFileSync('mkfifo', [join(place, 'fifo')]);
      const file = join(place, 'spec.yaml');
      writeFileSync(file, text);
      const { faults = [] } = loadSpecification(file, { environment: {} });
      if (fault === undefined) expect(faults.map(faultText)).toEqual([]);
      else expect(faults.map(faultText)[0]).toMatch(fault);
    });

  test('snapshots that lead to a device is refused in words', () => {
    const file = join(folder(), 'spec.yaml');
    mkdirSync(join(snapshotFile(file), '..'));
    symlinkSync('/dev/zero', snapshotFile(file));
    expect(() => new SnapshotStore(file)).toThrow(/Could not read .*: it is not a regular file/);
  });
});
