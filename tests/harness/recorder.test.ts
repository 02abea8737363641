import { expect, test } from 'vitest';
import { recordedSpec } from '../../src/harness/record/recorded-spec.js';
import { Recorder } from '../../src/harness/record/recorder.js';

const call = (id: unknown, params: object) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
const result = (id: unknown, value: object) => ({ jsonrpc: '2.0', id, result: value });
const TEXT = { content: [{ type: 'text', text: 'done' }] };

function recording(...lines: ['client' | 'server', unknown][]): Recorder {
  const recorder = new Recorder();
  for (const [from, message] of lines) {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    if (from === 'client') recorder.fromClient(line);
    else recorder.fromServer(line);
  }
  return recorder;
}

test('keeps calls that were answered; cancelled ones, lists and broken lines are not among them', () => {
  const { calls, server } = recording(
    ['client', { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }],
    ['server', result(0, { serverInfo: { name: 'shop', version: '1' } })],
    ['server', 'not JSON'],
    ['client', call(1, { name: 'a', arguments: { x: 1 } })],
    ['client', call('1', { name: 'b' })],
    ['client', call(2, { name: 'c' })],
    ['client', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }],
    ['server', { jsonrpc: '2.0', id: '1', error: { code: -32602, message: 'no' } }],
    ['server', result(1, TEXT)],
    ['server', result(2, TEXT)],
  );
  expect(server).toEqual({ name: 'shop', version: '1' });
  expect(calls.map(({ target, input, answer }) => [target, input, answer.kind])).toEqual([
    ['b', {}, 'error'],
    ['a', { x: 1 }, 'result'],
  ]);
});

test('what the client answered to the server becomes answers of the test, in both eras', () => {
  const answer = { action: 'accept', content: { size: 'L' } };
  const legacy = recording(
    ['client', call(1, { name: 'order' })],
    ['server', { jsonrpc: '2.0', id: 7, method: 'elicitation/create', params: {} }],
    ['client', result(7, answer)],
    ['server', { jsonrpc: '2.0', id: 8, method: 'sampling/createMessage', params: {} }],
    ['client', result(8, { role: 'assistant', model: 'm', content: { type: 'text', text: 'tea' } })],
    ['server', result(1, TEXT)],
  );
  const modern = recording(
    ['client', call(1, { name: 'order' })],
    ['server', result(1, { resultType: 'input_required', inputRequests: { size: {} } })],
    ['client', call(2, { name: 'order', inputResponses: { size: answer } })],
    ['server', result(2, TEXT)],
  );
  expect(legacy.calls).toMatchObject([{ elicitation: [answer], sampling: [{ model: 'm' }] }]);
  expect(modern.calls).toMatchObject([{ elicitation: [answer] }]);
  const { tools } = recordedSpec(modern.calls, { name: 'shop', server: {}, isExact: false }) as {
    tools: { tests: object[] }[];
  };
  expect(tools[0]!.tests).toMatchObject([{ name: 'call 1', elicitation: [answer] }]);
});

test('the order of calls is kept, and the same call with the same answer is there once', () => {
  const lines = ['a', 'b', 'a', 'a'].flatMap((name, id): ['client' | 'server', unknown][] => [
    ['client', call(id, { name, arguments: { id: id === 3 ? 2 : id } })],
    ['server', result(id, TEXT)],
  ]);
  const { tools } = recordedSpec(recording(...lines).calls, { name: 'shop', server: {}, isExact: true }) as {
    tools: { name: string; tests: { name: string }[] }[];
  };
  expect(tools.map(({ name, tests }) => [name, tests.map((one) => one.name)])).toEqual([
    ['a', ['call 1']],
    ['b', ['call 2']],
    ['a', ['call 3']],
  ]);
});
