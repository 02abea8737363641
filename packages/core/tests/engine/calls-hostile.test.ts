import { describe, expect, test } from 'vitest';
import { FIND_CHANNEL } from '../../../../tests/fixtures/hostile/find-channel.mjs';
import { py } from '../../../../tests/support/python.js';
import { Outcome, Value } from '../../src/contract/outcome.js';
import type { RunRequest } from '../../src/contract/run.js';
import { rulesOf, runIn, sharedEngine } from './engine.js';
import { expectOk, sharedPungi, verdictOf } from './pungi.js';

const pungi = sharedPungi();
const engine = sharedEngine();
const object = (a: unknown) => ({ type: 'object' as const, properties: { a } });
const call = (code: string, args: Record<string, unknown> = {}, more: Partial<RunRequest> = {}) =>
  pungi.run({ code, call: { function: 'f', arguments: args }, ...more });
const checked = (a: unknown, value: unknown, limits: RunRequest['limits'] = {}) =>
  pungi.run({
    code: 'def f(a): return a',
    call: { function: 'f', arguments: { a: value }, inputSchema: object(a) },
    limits,
  });

describe('arguments and schemas that are made to do harm', () => {
  test.each([
    ['arguments nested 10,000 deep', { arguments: { a: nested(10_000) } }],
    ['a schema nested 10,000 deep', { arguments: {}, inputSchema: object(nested(10_000)) }],
    ['arguments of 7 MB', { arguments: { a: 'x'.repeat(7_000_000) } }],
    ['a name that is none', { function: 'f(); g', arguments: {} }],
    ['arguments that are a list', { arguments: [] as unknown as Record<string, unknown> }],
    ['a schema that is no object', { arguments: {}, inputSchema: { type: 'array' } as never }],
    ['something else', { arguments: {}, more: 1 } as never],
  ])('%s: refused, and nothing is run', async (_, asked: object) => {
    const request = { code: 'print(1)', call: { function: 'f', ...asked } } as RunRequest;
    const outcome = await pungi.run(request);
    expect(verdictOf(outcome, 'invalid').issues.join()).toMatch(/^call/);
    expect(outcome.isolation.tier).toBeNull();
  });

  test('a value nested as deep as a request may be is an answer', async () => {
    const tree = { type: 'array', items: { $ref: '#/properties/a' } };
    expect(verdictOf(await checked(tree, nested(450)), 'invalid').issues[0]).toContain('nested');
    const outcome = await checked({}, nested(450));
    expectOk(outcome);
    expect(outcome.value).not.toHaveProperty('json');
    expect(outcome.value?.note).toContain('nested more than 100 deep');
  });

  test('a text with JSON nested 100,000 deep is an answer', async () => {
    const { issues } = verdictOf(await checked({ type: 'array' }, '['.repeat(100_000)), 'invalid');
    expect(issues[0]).toMatch(/^a: expected a list, got the text "\[+…"$/);
  });

  test('names of the language itself are names like any other', async () => {
    const args = JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, unknown>;
    const { issues } = verdictOf(await call('def f(): pass', args), 'invalid');
    expect(issues).toEqual([
      '__proto__: is not known; there are none',
      'constructor: is not known; there are none',
    ]);
    expect((await call('def f(**all): return all', args)).value?.json).toEqual(args);
  });

  test.each([
    ['a pattern', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
    ['a schema that doubles', doubling(60), 1],
  ])('%s that takes for ever ends with its run, and the server goes on', async (_, schema, value) => {
    const bomb = checked(schema, value, { timeoutMs: 1500 });
    expectOk(await pungi.run({ code: 'print(1)' }));
    verdictOf(await bomb, 'timed-out');
    expectOk(await pungi.run({ code: 'print(1)' }));
  });

  test('patterns and references that are none are passed over', async () => {
    for (const schema of [
      { pattern: '(' },
      { pattern: '\\p{L}' },
      { $ref: '#/nowhere' },
      { $ref: 'file:///etc/passwd' },
    ])
      expectOk(await checked(schema, 'x'));
  });
});

describe('a function that is made to do harm', () => {
  /** Code that says on the report pipe what only the worker should say. */
  const forging = (kind: 'D' | 'R', body: string, status: number) =>
    FIND_CHANNEL +
    py`
    import json, os, time
    def f():
        body = ${body}
        data = len(body).to_bytes(4, "big") + b"${kind}" + body
        while data:
            data = data[os.write(REPORT, data):]
        if ${status} == 0:
            time.sleep(20)
        os._exit(${status})
  `;
  const forged = async (value: string) => {
    const outcome = await call(forging('D', value, 0));
    expectOk(outcome);
    expect(Outcome.safeParse(outcome).success).toBe(true);
    return outcome.value;
  };

  test('can make up its value, but none that a worker could not say', async () => {
    const value = await forged(
      py`
        json.dumps({"value": {"type": "t", "repr": "r", "json": 1, "note": "n" * 99999, "more": 1, "content": [
            {"kind": "image", "mimeType": "image/png", "bytes": 3, "base64": "<b>"},
            {"kind": "bytes", "mimeType": "a/b", "bytes": 0}]}}).encode() + b"\0abcdef"
      `.trim(),
    );
    expect(value?.note).toHaveLength(8000);
    expect({ ...value, note: '' }).toEqual({
      type: 't',
      repr: 'r',
      json: 1,
      note: '',
      content: [
        { kind: 'image', mimeType: 'image/png', base64: 'YWJj' },
        { kind: 'bytes', mimeType: 'a/b', base64: '' },
      ],
    });
  });

  test.each([
    ['of another kind', '{"kind": "script", "mimeType": "image/png", "bytes": 3}'],
    ['of a type that is none', String.raw`{"kind": "image", "mimeType": "text/html\r\nX: y", "bytes": 3}`],
    ['longer than what is there', '{"kind": "image", "mimeType": "image/png", "bytes": 4}'],
    ['shorter than nothing', '{"kind": "image", "mimeType": "image/png", "bytes": -3}'],
    ['of half a byte', '{"kind": "image", "mimeType": "image/png", "bytes": 2.5}'],
    ['that is none', '5'],
  ])('content %s is not taken', async (_, content) => {
    const body = `json.dumps({"value": {"type": "t", "repr": "r", "content": [${content}]}}).encode() + b"\\0abc"`;
    expect(await forged(body)).toEqual({ type: 't', repr: 'r' });
  });

  const saying = (json: string) => `b'{"value":{"type":"t","repr":"r",' + ${json} + b"}}"`;
  const lists = (depth: number) => saying(`b'"json":' + b"[" * ${depth} + b"]" * ${depth}`);
  test.each([
    ['content that is no list', saying(`b'"content":5,"note":[]'`)],
    ['JSON nested 101 deep', lists(101)],
  ])('%s is left out', async (_, body) => {
    expect(await forged(body)).toEqual({ type: 't', repr: 'r' });
  });

  test.each([
    ['nested 900,000 deep', lists(900_000)],
    ['of 3 MB', saying(`b'"json":"' + b"j" * 3_000_000 + b'"'`)],
    ['of something else', `b"\\xff" * 1000`],
    ['of nothing', `b""`],
  ])('a report %s is not read at all', async (_, body) => {
    expect(await forged(body)).toBeNull();
  });

  test('a report beyond all measure ends the run', async () => {
    const outcome = await call(forging('D', 'b"x" * 9_000_000', 0));
    expect(outcome.verdict.kind).not.toBe('ok');
    expect(outcome.value).toBeNull();
  });

  test('can say that its arguments were wrong only where it fails', async () => {
    const issues = 'json.dumps({"issues": ["x" * 9999, 5, None] * 99}).encode()';
    const verdict = verdictOf(await call(forging('R', issues, 1)), 'invalid');
    expect(verdict.issues).toHaveLength(17);
    expect(verdict.issues[0]).toHaveLength(2000);
    expectOk(await call(forging('D', issues, 0)));
    const plain = `${forging('R', issues, 1)}f()\n`;
    verdictOf(await pungi.run({ code: plain }), 'exited');
  });

  test.each([
    ['a repr that raises', 'class T:\n    def __repr__(self): raise SystemExit(3)\ndef f(): return T()'],
    ['a class that lies', 'class T:\n    __class__ = property(lambda self: 1 // 0)\ndef f(): return [T()]'],
    ['a value that holds itself', 'def f():\n    a = {}\n    a["a"] = a\n    return a'],
    [
      'a value nested 100,000 deep',
      'def f():\n    a = []\n    for _ in range(100000): a = [a]\n    return a',
    ],
    ['a generator without end', 'def f():\n    while True: yield 1'],
    ['a number of a million digits', 'def f(): return 1 << 3_000_000'],
    ['a lone surrogate', 'def f(): return "\\ud800"'],
    ['its module gone', 'import sys\ndel sys.modules[__name__]\ndef f(): return 1'],
    ['json replaced', 'import json\ndef f():\n    json.dumps = json.JSONEncoder = None\n    return [1]'],
  ])('and gives back %s ends as any other', async (_, code) => {
    const outcome = await call(code);
    expectOk(outcome);
    expect(Value.safeParse(outcome.value).success).toBe(true);
  });
});

describe('a call in the scope of a profile', () => {
  test.each([
    ['a function of the library under a name of the script', 'import linecache\nf = linecache.getlines'],
    [
      'a lazy value that calls one',
      'import linecache\ndef f(filename): return map(linecache.getlines, [filename])',
    ],
  ])('%s is called by the script', async (_, code) => {
    const outcome = await inScope(code, { blockedOperations: ['file'] }, { filename: '/etc/passwd' });
    expect(verdictOf(outcome, 'denied').violations).toMatchObject([{ rule: 'operation', what: 'file' }]);
  });

  const inScope = (code: string, rules: Parameters<typeof rulesOf>[0], args: Record<string, unknown> = {}) =>
    runIn(engine, code, {
      rules: rulesOf(rules),
      profile: { name: 'narrow' },
      call: { function: 'f', arguments: args },
    });

  test('is refused before it runs, and while it runs', async () => {
    const early = verdictOf(await inScope('def f():\n    import os', { blockedImports: ['os'] }), 'denied');
    expect(early.violations).toMatchObject([{ line: 2, rule: 'import', what: 'os' }]);
    const hidden = 'def f():\n    return __import__("o" + "s").getcwd()';
    const late = verdictOf(await inScope(hidden, { blockedImports: ['os'] }), 'denied');
    expect(late.violations).toMatchObject([{ line: 2, what: 'os' }]);
  });

  test.each([
    ['a function', 'def f():\n    return open("x", "w")'],
    ['an async function', 'async def f():\n    return open("x", "w")'],
    ['a generator', 'def f():\n    yield open("x", "w")'],
    [
      'a thread',
      'import threading\ndef f():\n    t = threading.Thread(target=lambda: open("x", "w")); t.start(); t.join()',
    ],
    ['a type hint', "def f(a: \"open('x', 'w')\"): pass"],
    [
      'the repr of what it gives',
      'class T:\n    def __repr__(self): return str(open("x", "w"))\ndef f(): return T()',
    ],
    [
      'a class that is built',
      'import dataclasses\n@dataclasses.dataclass\nclass T:\n    x: int\n    def __post_init__(self): open("x", "w")\ndef f(a: T): pass',
    ],
  ])('is held to it in %s', async (_, code) => {
    const args = code.includes('(a: ') ? { a: code.includes('T)') ? { x: 1 } : 1 } : {};
    const { violations } = verdictOf(await inScope(code, { blockedOperations: ['file'] }, args), 'denied');
    expect(violations).toMatchObject([{ rule: 'operation', what: 'file' }]);
  });

  test('may do all that it allows', async () => {
    const rules = {
      allowedImports: ['math', 'dataclasses', 'datetime'],
      blockedOperations: ['file', 'process', 'network'] as never,
    };
    const code = py`
      import dataclasses, datetime, math
      @dataclasses.dataclass
      class Circle:
          radius: float
          day: "datetime.date | None" = None
      async def f(circle: Circle, days: "list[datetime.date]" = ()):
          return {"area": math.floor(math.pi * circle.radius ** 2), "circle": circle, "names": sorted(vars(circle))}
    `;
    const outcome = await inScope(code, rules, { circle: { radius: '2', day: '2024-01-02' } });
    expectOk(outcome);
    expect(outcome.value?.json).toEqual({
      area: 12,
      circle: { radius: 2, day: '2024-01-02' },
      names: ['day', 'radius'],
    });
  });
});

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let count = 1; count < depth; count += 1) value = [value];
  return value;
}

/** Each part asks for the next one twice, and the last one is never met. */
function doubling(parts: number): unknown {
  const names = Array.from({ length: parts }, (_, index) => `p${index}`);
  const $defs = Object.fromEntries(
    names.map((name, index) => {
      const next = index + 1 < parts ? { $ref: `#/properties/a/$defs/p${index + 1}` } : { type: 'string' };
      return [name, { anyOf: [next, next] }];
    }),
  );
  return { $ref: '#/properties/a/$defs/p0', $defs };
}
