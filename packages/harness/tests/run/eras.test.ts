import { expect, test } from 'vitest';
import { messagesOf, over, overHttp, run } from './suites.js';

const tests = {
  tools: [
    {
      name: 'add',
      tests: [
        {
          name: 'adds',
          input: { a: 2, b: 3 },
          expected: { fields: [{ path: '$.sum', value: 5, type: 'integer' }], text_contains: '5' },
        },
        { name: 'adds wrongly', input: { a: 2, b: 3 }, expected: { fields: [{ path: '$.sum', value: 6 }] } },
        { name: 'refuses text', input: { a: 'x', b: 1 }, expected: { error: true } },
      ],
    },
    { name: 'nowhere', tests: [{ name: 'is not there', expected: { error: true, error_code: -32602 } }] },
  ],
  resources: [
    {
      uri_template: 'note://{id}',
      tests: [
        { name: 'reads', input: { id: '7' }, expected: { fields: [{ path: '$.content', value: 'note 7' }] } },
      ],
    },
  ],
  prompts: [
    {
      name: 'greet',
      tests: [{ name: 'greets', input: { name: 'Ada' }, expected: { text_contains: 'Greet Ada.' } }],
    },
  ],
};

for (const [door, server] of [
  ['stdio', over('good.mjs')],
  ['HTTP', overHttp('good.mjs')],
] as const)
  for (const [protocol, version] of [
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
    ['auto', '2026-07-28'],
  ] as const)
    test(`tools, resources and prompts are called and judged: ${door}, ${protocol}`, async () => {
      const { report, named, statuses } = await run({ server: { ...server, protocol }, ...tests });
      expect(report.problem).toBeUndefined();
      expect(report.server).toEqual({ name: 'good', version: '1.2.3', protocol: version });
      expect(statuses).toEqual([
        'adds: passed',
        'adds wrongly: failed',
        'refuses text: passed',
        'is not there: passed',
        'reads: passed',
        'greets: passed',
      ]);
      expect(messagesOf(named('adds wrongly'))).toEqual(['$.sum should be 6 but is 5.']);
      expect(named('adds wrongly').request).toMatchObject({
        params: { name: 'add', arguments: { a: 2, b: 3 } },
      });
      expect(named('adds wrongly').response).toMatchObject({ structuredContent: { sum: 5 } });
    });
