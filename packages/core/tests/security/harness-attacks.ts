// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like

/** What servers under test, and specifications that somebody else wrote, do to the harness. */

type Schema = Record<string, unknown>;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, make: (index: number) => unknown): Schema =>
  Object.fromEntries(times(count, (index) => [`p${index}`, make(index)]));
const withA = (a: unknown, more: Schema = {}): Schema => ({
  type: 'object',
  properties: { a },
  required: ['a'],
  ...more,
});
const doubled = (last: number, make: (next: unknown) => unknown): Schema =>
  Object.fromEntries(
    times(last + 1, (index) => [
      `d${index}`,
      index === last ? { type: 'string' } : make({ $ref: `#/$defs/d${index + 1}` }),
    ]),
  );

/** Input schemas of tools. Each of them made init, fuzz or lint hang, end with a stack overflow or run out of memory. */
export const SCHEMAS: Record<string, Schema> = {
  'references in a circle': {
    ...withA({ $ref: '#/properties/b' }),
    properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } },
  },
  'a choice of itself': withA({ $ref: '#/$defs/x' }, { $defs: { x: { anyOf: [{ $ref: '#/$defs/x' }] } } }),
  'all of itself': { type: 'object', allOf: [{ $ref: '#' }] },
  'twice the next, thirty times': withA(
    { $ref: '#/$defs/d0' },
    { $defs: doubled(30, (next) => ({ allOf: [next, next] })) },
  ),
  'twenty of itself, all required': withA(
    { $ref: '#/$defs/n' },
    {
      $defs: {
        n: {
          ...withA({}),
          properties: named(20, () => ({ $ref: '#/$defs/n' })),
          required: times(20, (one) => `p${one}`),
        },
      },
    },
  ),
  'forty of itself in a list': withA(
    { $ref: '#/$defs/n' },
    { $defs: { n: { type: 'array', minItems: 40, items: { $ref: '#/$defs/n' } } } },
  ),
  'a list of at least a billion': withA({ type: 'array', minItems: 1e9, items: { type: 'string' } }),
  'a text of at least a billion': withA({ type: 'string', minLength: 1e9 }),
  '100,000 values to choose from': withA({ enum: times(100_000, (index) => `v${index}`) }),
  'a pattern that takes hours': withA({ type: 'string', pattern: '^(\\w|\\w\\w)+\\d$', minLength: 60 }),
  'a reference that cannot be decoded': withA({ $ref: '#/%E0%A4%A' }),
  'names of what every object has': withA({}, { required: ['__proto__', 'constructor', 'toString'] }),
  '20,000 required': { type: 'object', required: times(20_000, (index) => `p${index}`) },
};

/** Names of tools that must come back from a written specification as they are, and reveal nothing. */
export const NAMES = [
  '${env:SECRET}',
  '${SECRET:-x}',
  '$${env:SECRET}',
  '__proto__',
  'constructor',
  '../../../etc/passwd',
  'a: [b, {c: *d}] # no',
  '- !!js/function >\n  x\n---\n...',
  '\u001b[2J\u001b]0;title\u0007\r\n\u202Edesrever',
  '"\'`\\',
  '~',
  '007',
];

const DEEP = /^The answer is nested more than 256 levels deep, so it was not checked\.$/;

/** What a call of tests/fixtures/servers/hostile.mjs does, and how the test fails; undefined: it passes. */
export const CALLS: Record<string, RegExp | undefined> = {
  'a result of 100,000 levels': DEEP,
  'content of 100,000 levels': /not a valid result of tools\/call: content\.0/,
  'an error of 100,000 levels': DEEP,
  'an error of 100,000 levels, of no call': undefined,
  'a log message of 100,000 levels': undefined,
  'an error of a megabyte': /^The call should have succeeded but failed with error 1: /,
  'a process of its own session, without parent and environment': undefined,
};

/** How it lists its tools, and what is told of that. */
export const LISTINGS: Record<string, RegExp> = {
  'without end': /^tools\/list has more than 500 pages$/,
  'too many': /^tools\/list returned too much data$/,
  'too deep': /^tools\/list returned a value more than 256 levels deep$/,
};

const SERVER = 'name: s\nserver: { command: none }\n';
const oneTest = (rest: string) => `tools: [{ name: t, tests: [{ name: a, ${rest} }] }]\n`;
const variables = (count: number, of: (before: string) => string) =>
  `variables:\n  v0: lol\n${times(count, (index) => `  v${index + 1}: ${of(`\${v${index}}`)}\n`).join('')}`;
const manyTests = (count: number, of: (index: number) => string) =>
  `tools:\n- name: t\n  tests:\n${times(count, (index) => `  - { name: a${index}, ${of(index)} }\n`).join('')}`;

const TOO_MUCH = /expands to more than 4 MB, 200000 values or 100 nested variables, through \$\{v\d+\}$/;

/** Specifications, and the first of their faults; undefined: there is none. */
export const SPECIFICATIONS: Record<string, { text: string; fault: RegExp | undefined }> = {
  'a text that grows fourfold forty times': {
    text: `${SERVER}${variables(40, (before) => `"${before.repeat(4)}"`)}${oneTest('input: { x: "${v40}" }')}`,
    fault: TOO_MUCH,
  },
  'a list that grows threefold thirty times': {
    text: `${SERVER}${variables(30, (before) => `["${before}", "${before}", "${before}"]`)}${oneTest('input: { x: "${v30}" }')}`,
    fault: TOO_MUCH,
  },
  'the same in the server': {
    text: `name: s\n${variables(40, (before) => `"${before.repeat(4)}"`)}server: { command: "\${v40}" }\n`,
    fault: TOO_MUCH,
  },
  'the same in a test of its own': {
    text: `${SERVER}${oneTest(`variables: { v0: x, ${times(40, (index) => `v${index + 1}: "${`\${v${index}}`.repeat(4)}"`).join(', ')} }, input: { x: "\${v40}" }`)}`,
    fault: TOO_MUCH,
  },
  'variables in a row': {
    text: `${SERVER}${variables(500, (before) => `"${before}"`)}${oneTest('input: { x: "${v500}" }')}`,
    fault: TOO_MUCH,
  },
  'variables that all use each other': {
    text: `${SERVER}variables:\n${times(14, (one) => `  v${one}: "${times(14, (other) => (other === one ? '' : `\${v${other}}`)).join('')}"\n`).join('')}`,
    fault: /variables\.v0 refers to itself: v0 uses v1 uses v0$/,
  },
  'defaults that never end': {
    text: `${SERVER}description: "${'${a:-'.repeat(100_000)}"\n`,
    fault: undefined,
  },
  'tests in a row': {
    text: `${SERVER}${manyTests(3000, (index) => `dependencies: [a${Math.min(index + 1, 2999)}]`).replace('dependencies: [a2999] }\n  - { name: a2999, dependencies: [a2999]', 'dependencies: [a2999] }\n  - { name: a2999, tags: []')}`,
    fault: undefined,
  },
  'tests in a circle': {
    text: `${SERVER}${manyTests(2000, (index) => `dependencies: [a${(index + 1) % 2000}]`)}`,
    fault: /in a cycle: "tool\/t\/a0" depends on .* depends on … depends on .* depends on "tool\/t\/a0"$/,
  },
  'tests that all depend on twenty': {
    text: `${SERVER}${manyTests(500, (index) => `dependencies: [${times(Math.min(20, index), (back) => `a${index - back - 1}`).join(', ')}]`)}`,
    fault: undefined,
  },
  'tests that all use one capture': {
    text: `${SERVER}${manyTests(3000, (index) => (index === 0 ? 'capture: { c: $ }' : 'input: { x: "${c}" }'))}`,
    fault: undefined,
  },
  '20,000 keys that there are not': {
    text: `${SERVER}${oneTest(`setup: [{ ${times(20_000, (index) => `k${index}: 1`).join(', ')} }]`)}`,
    fault: /k0 is not known/,
  },
  'what never ends or begins': {
    text: `${SERVER}includes: [/dev/zero, fifo, /proc/kmsg]\n`,
    fault: /includes\[0\] cannot be read: it is not a regular file$/,
  },
  'combinations without end': {
    text: `${SERVER}${oneTest(`matrix: { ${times(9, (one) => `m${one}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]`).join(', ')} }`)}`,
    fault: /matrix makes more than 1000 tests$/,
  },
  'aliases of aliases': {
    text: `${SERVER}metadata:\n  a0: &a0 [x, x]\n${times(20, (one) => `  a${one + 1}: &a${one + 1} [${times(9, () => `*a${one}`).join(', ')}]\n`).join('')}`,
    fault: /Excessive alias count/,
  },
};
