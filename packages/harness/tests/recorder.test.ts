import { expect, test } from 'vitest';
import { EventReader } from '../src/record/http-proxy.js';
import { Recorder, recordedSpec } from '../src/record/recorder.js';

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

test('the ids of one session are not those of another, and what an exchange left open is forgotten', () => {
  const recorder = new Recorder();
  const asks = (scope: string, name: string) => recorder.fromClient(JSON.stringify(call(1, { name })), scope);
  const answers = (scope: string) => recorder.fromServer(JSON.stringify(result(1, TEXT)), scope);
  asks('one', 'a');
  asks('other', 'b');
  asks('gone', 'c');
  recorder.endOf('gone');
  expect([answers('other'), answers('one'), answers('gone')]).toEqual([true, true, false]);
  expect(recorder.calls.map(({ target }) => target)).toEqual(['b', 'a']);
  expect(recorder.calls[0]).not.toHaveProperty('scope');
});

test('data of events is read however it is cut, and what is too long is left out', () => {
  const read: string[] = [];
  const events = new EventReader(30, (data) => read.push(data));
  const stream = `event: message\r\ndata: {"a":\r\ndata: "ü"}\r\n\r\n: a comment\ndata:1\n\ndata: ${'x'.repeat(40)}\n\nid: 5\n\ndata: 2\n\ndata: no end`;
  for (const byte of Buffer.from(stream)) events.add(Buffer.from([byte]));
  expect(read).toEqual(['{"a":\n"ü"}', '1', '2']);
});
