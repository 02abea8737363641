import { describe, test } from 'vitest';
import { messagesOf, over, overHttp, run } from './suites.js';

const tool = (name: string, ...tests: object[]) => ({ name, tests });

test.concurrent.for([
  ['stdio, legacy', over('good.mjs', { protocol: 'legacy' })],
  ['stdio, modern', over('good.mjs', { protocol: 'modern' })],
  ['HTTP, modern', overHttp('good.mjs', [], { protocol: 'modern' })],
])('questions of the server, progress, logs and cancellation: %s', async ([, good], { expect }) => {
  const { named, statuses } = await run({
    server: good,
    tools: [
      tool(
        'ask',
        {
          name: 'answers',
          elicitation: [{ action: 'accept', content: { name: 'Ada' } }],
          expected: { text_contains: 'hello Ada' },
        },
        { name: 'declines', elicitation: [{ action: 'decline' }], expected: { text_contains: 'decline' } },
      ),
      tool(
        'progress',
        { name: 'counts', input: { steps: 3 }, expected: { progress: 3, logs: { min: 3, max: 3 } } },
        { name: 'counts wrongly', input: { steps: 2 }, expected: { progress: { min: 3 }, logs: 0 } },
      ),
      tool(
        'slow',
        { name: 'is cancelled', input: { ms: 60_000 }, cancel_after_ms: 50, expected: { cancelled: true } },
        { name: 'is too quick', input: { ms: 0 }, cancel_after_ms: 30_000, expected: { cancelled: true } },
        { name: 'is in vain', input: { ms: 0 }, elicitation: [{ action: 'decline' }] },
      ),
    ],
  });
  expect(messagesOf(named('counts wrongly'))).toEqual([
    'There should have been at least 3 progress notifications but there were 2.',
    'There should have been 0 log messages but there were 2.',
  ]);
  expect(named('counts').progress).toBe(3);
  expect(messagesOf(named('is too quick'))[0]).toMatch(
    /^The call should have been cancelled but was answered/,
  );
  expect(messagesOf(named('is in vain'))).toEqual(['The test has 1 answers, but the server asked 0 times.']);
  expect(statuses.filter((status) => status.endsWith('passed'))).toEqual([
    'answers: passed',
    'declines: passed',
    'counts: passed',
    'is cancelled: passed',
  ]);
});

test.concurrent('a question that the test has no answer for', async ({ expect }) => {
  const { named } = await run({
    server: over('good.mjs', { protocol: 'legacy' }),
    tools: [
      tool('ask', {
        name: 'asks',
        test_config: { repeat: 2, concurrent_requests: 1 },
        elicitation: [{ action: 'accept', content: { name: 'Ada' } }],
      }),
    ],
  });
  expect(messagesOf(named('asks'))).toEqual([
    'The server requested input, but the test has no answer left: Who is it?',
  ]);
  const other = await run({
    server: over('good.mjs', { protocol: 'legacy' }),
    tools: [tool('ask', { name: 'is silent about it', expected: { text_contains: 'hello' } })],
  });
  expect(messagesOf(other.named('is silent about it'))).toEqual([
    'The text should contain "hello" but is "cancel".',
    'The server requested input, but the test has no answer left: Who is it?',
  ]);
});

test.concurrent('after a cancelled call, a server must still answer', async ({ expect }) => {
  const { named } = await run({
    server: over('hangs-in-call.mjs'),
    tools: [tool('work', { name: 'works', cancel_after_ms: 300, expected: { cancelled: true } })],
  });
  expect(messagesOf(named('works'))).toEqual([
    'After the cancelled call, the server did not answer within 5 seconds.',
  ]);
});

const question = (method: string, params?: object) => ({ method, params });
const FORM = question('elicitation/create', {
  mode: 'form',
  message: 'Who is it?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
});
const URL_FORM = question('elicitation/create', {
  mode: 'url',
  message: 'Look there',
  url: 'https://example.com',
  elicitationId: '1',
});
const COMPLETION = question('sampling/createMessage', {
  messages: [{ role: 'user', content: { type: 'text', text: 'Say something.' } }],
  maxTokens: 5,
});
const ROOTS = question('roots/list');
const asks = (name: string, questions: object[], more: object = {}) => ({
  name,
  input: { questions },
  ...more,
});
const CANCEL = { elicitation: [{ action: 'cancel' }] };
const said = (text: string, more: object = {}) => ({
  role: 'assistant',
  model: 'pungi-test',
  stopReason: 'endTurn',
  content: { type: 'text', text },
  ...more,
});

describe.concurrent.for(['legacy', 'modern'] as const)('a server of the %s era', (protocol) => {
  const ask = async (...tests: object[]) => {
    const { named, report } = await run({
      server: over('asks.mjs', { protocol }),
      tools: [tool('ask', ...tests)],
      test_config: { max_concurrency: 1 },
    });
    const heard = (name: string): unknown => {
      const { content } = named(name).response as { content: { text: string }[] };
      return JSON.parse(content[0]!.text);
    };
    return { named, heard, report, messages: (name: string) => messagesOf(named(name)) };
  };

  test('is told what each test says, in order', async ({ expect }) => {
    const accept = { action: 'accept', content: { name: 'Ada', ok: true, count: 2 } };
    const { heard, report } = await ask(
      asks('accepts', [FORM], { elicitation: [accept] }),
      asks('declines', [FORM], { elicitation: [{ action: 'decline' }] }),
      asks('cancels', [FORM], CANCEL),
      asks('several', [FORM, FORM], { elicitation: [accept, { action: 'decline' }] }),
      asks('says', [COMPLETION], { sampling: ['Something.'] }),
      asks('says more', [COMPLETION, COMPLETION], {
        sampling: ['One.', { content: 'Two.', model: 'm', stopReason: 'maxTokens' }],
      }),
      asks('both', [COMPLETION, FORM], { sampling: ['Something.'], elicitation: [accept] }),
      asks('nothing', []),
    );
    expect(report.results.map(({ status }) => status)).toEqual(Array(8).fill('passed'));
    expect(heard('accepts')).toEqual([accept]);
    expect(heard('declines')).toEqual([{ action: 'decline' }]);
    expect(heard('cancels')).toEqual([{ action: 'cancel' }]);
    expect(heard('several')).toEqual([accept, { action: 'decline' }]);
    expect(heard('says')).toEqual([said('Something.')]);
    expect(heard('says more')).toEqual([said('One.'), said('Two.', { model: 'm', stopReason: 'maxTokens' })]);
    expect(heard('both')).toEqual([said('Something.'), accept]);
  });

  test('that asks what nobody has an answer for fails, and the next test has its own', async ({ expect }) => {
    const { messages, named } = await ask(
      asks('one too many', [FORM, FORM], CANCEL),
      asks('another kind', [COMPLETION], CANCEL),
      asks('one too few', [FORM], { elicitation: [{ action: 'cancel' }, { action: 'decline' }] }),
      asks('invalid answer', [COMPLETION], { sampling: [{ role: 'nobody', content: 'x' }] }),
      asks('unread form', [question('elicitation/create', { message: 5 })], CANCEL),
      asks('web page', [URL_FORM], CANCEL),
      asks('as it should', [FORM], CANCEL),
    );
    expect(messages('one too many')).toEqual([
      'The server requested input, but the test has no answer left: Who is it?',
    ]);
    expect(messages('another kind')).toContain(
      'The server requested a completion, but the test has no answer left.',
    );
    expect(messages('one too few')).toEqual(['The test has 2 answers, but the server asked 1 times.']);
    expect(messages('invalid answer').at(-1)).toBe(
      'The completion in the test is not valid: role: Invalid option: expected one of "user"|"assistant"',
    );
    expect(messages('unread form')[0]).toMatch(/Invalid elicitation request: .*"message"/s);
    expect(messages('web page')[0]).toContain('Client does not support URL-mode elicitation requests');
    expect(named('as it should').status).toBe('passed');
  });

  test('that asks what the client has not said it can do is told by the method', async ({ expect }) => {
    const sentence = 'The server requested "roots/list", which the client does not support.';
    const { messages, report } = await ask(
      asks('looks for roots', [ROOTS], CANCEL),
      asks('quietly', [ROOTS]),
    );
    expect(messages('looks for roots')).toContain(sentence);
    const told = protocol === 'modern' ? messages('quietly') : messages('follows the protocol');
    expect(told.join('\n')).toContain(sentence);
    expect(report.results.some(({ status }) => status === 'failed')).toBe(true);
  });
});
