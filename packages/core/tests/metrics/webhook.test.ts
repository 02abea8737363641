import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { AlertEvent } from '../../src/metrics/webhook.js';
import { originOf, Webhook } from '../../src/metrics/webhook.js';
import { listeningLogger } from '../engine/pungi.js';
import { listenForWebhook } from './webhook-listener.js';

const event = (value: number): AlertEvent => ({
  event: 'raised',
  alert: {
    name: 'queue',
    value,
    threshold: 1,
    since: '2030-01-01T00:00:00.000Z',
    message: 'Runs are waiting.',
  },
  at: '2030-01-01T00:00:00.000Z',
});

function webhookTo(address: string, options: { timeoutMs?: number; retryAfterMs?: number[] } = {}) {
  const logger = listeningLogger();
  const webhook = new Webhook(address, { logger, retryAfterMs: [10, 20], ...options });
  onTestFinished(() => webhook.close());
  const complaints = () => logger.entries.map(({ level, context }) => [level, context['problem']]);
  return { webhook, complaints, logger };
}

const valuesOf = (heard: { body: Record<string, unknown> }[]) =>
  heard.map(({ body }) => (body['alert'] as { value: number }).value);

test('events arrive one after another, in their order', async () => {
  const { address, heard } = await listenForWebhook();
  const { webhook, complaints } = webhookTo(address);
  for (let value = 1; value <= 10; value += 1) webhook.send(event(value));
  await until(() => heard.length === 10, 'all have arrived');
  expect(valuesOf(heard)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(heard[0]?.headers['content-type']).toBe('application/json');
  expect(complaints()).toEqual([]);
});

test('a server that fails at first is asked again', async () => {
  const { address, heard } = await listenForWebhook((res, count) =>
    res.writeHead(count < 3 ? 500 : 200).end(),
  );
  const { webhook, complaints } = webhookTo(address);
  webhook.send(event(1));
  webhook.send(event(2));
  await until(() => heard.length === 4, 'both have arrived');
  expect(valuesOf(heard)).toEqual([1, 1, 1, 2]);
  expect(complaints()).toEqual([]);
});

test('three tries are all, and the next event has its own', async () => {
  const { address, heard } = await listenForWebhook((res, count) =>
    res.writeHead(count <= 3 ? 503 : 200).end(),
  );
  const { webhook, complaints } = webhookTo(address);
  webhook.send(event(1));
  webhook.send(event(2));
  await until(() => heard.length === 4, 'the second has arrived');
  expect(valuesOf(heard)).toEqual([1, 1, 1, 2]);
  expect(complaints()).toEqual([['error', 'it answered 503']]);
});

test('a redirect is not followed, and what was refused is not repeated', async () => {
  const elsewhere = await listenForWebhook();
  const { address, heard } = await listenForWebhook((res, count) =>
    count === 1 ? res.writeHead(307, { location: elsewhere.address }).end() : res.writeHead(403).end(),
  );
  const { webhook, complaints } = webhookTo(address);
  webhook.send(event(1));
  webhook.send(event(2));
  await until(() => complaints().length === 2, 'both were given up');
  expect(complaints()).toEqual([
    ['error', 'it answered 307, and redirects are not followed'],
    ['error', 'it answered 403'],
  ]);
  expect(heard).toHaveLength(2);
  expect(elsewhere.heard).toEqual([]);
});

test('a server that is not there is named in the log, without what may be a secret', async () => {
  const { address, close } = await listenForWebhook();
  await close();
  const secret = address.replace('http://', 'http://user:geheim@').concat('hooks/T0KEN?key=s3cret');
  const { webhook, logger } = webhookTo(secret);
  webhook.send(event(1));
  await until(() => logger.entries.length === 1, 'it was given up');
  expect(logger.entries[0]).toMatchObject({
    level: 'error',
    context: { webhook: address.slice(0, -1), problem: 'ECONNREFUSED', event: 'raised', alert: 'queue' },
  });
  expect(JSON.stringify(logger.entries)).not.toMatch(/geheim|T0KEN|s3cret|user/);
  expect(originOf(secret)).toBe(address.slice(0, -1));
});

test('credentials of the address are sent as such', async () => {
  const { address, heard } = await listenForWebhook();
  const { webhook } = webhookTo(address.replace('http://', 'http://user:ge%3Aheim@').concat('hook?key=1'));
  webhook.send(event(1));
  await until(() => heard.length === 1, 'it has arrived');
  expect(heard[0]).toMatchObject({
    path: '/hook?key=1',
    headers: { authorization: `Basic ${Buffer.from('user:ge:heim').toString('base64')}` },
  });
});

test('a server that does not answer is given up', async () => {
  const { address, heard } = await listenForWebhook(() => {});
  const { webhook, complaints } = webhookTo(address, { timeoutMs: 50 });
  webhook.send(event(1));
  await until(() => complaints().length === 1, 'it was given up');
  expect(complaints()).toEqual([['error', 'no answer in time']]);
  expect(heard).toHaveLength(3);
});

test('while a server does not answer, only so many events wait: the oldest go', async () => {
  const { address, heard } = await listenForWebhook(() => {});
  const { webhook, complaints } = webhookTo(address);
  webhook.send(event(0));
  await until(() => heard.length === 1, 'the first is on its way');
  for (let value = 1; value <= 40; value += 1) webhook.send(event(value));
  expect(complaints()).toEqual(Array.from({ length: 8 }, () => ['error', 'too many are waiting']));
});

test('close() lets what is on its way arrive, and what waits have its one try', async () => {
  const answers: (() => void)[] = [];
  const { address, heard } = await listenForWebhook((res) => answers.push(() => res.writeHead(204).end()));
  const { webhook, complaints } = webhookTo(address);
  webhook.send(event(1));
  webhook.send(event(2));
  await until(() => answers.length === 1, 'the first is on its way');
  const closed = webhook.close();
  answers[0]?.();
  await until(() => answers.length === 2, 'the second is on its way');
  answers[1]?.();
  await closed;
  webhook.send(event(3));
  expect(valuesOf(heard)).toEqual([1, 2]);
  expect(complaints()).toEqual([]);
});

test('close() waits neither for a further try nor for a server that does not answer', async () => {
  const failing = await listenForWebhook((res) => res.writeHead(500).end());
  const patient = webhookTo(failing.address, { retryAfterMs: [1e6] });
  patient.webhook.send(event(1));
  await until(() => failing.heard.length === 1, 'it was tried once');
  await patient.webhook.close();
  expect(patient.complaints()).toEqual([['error', 'it answered 500']]);

  const silent = await listenForWebhook(() => {});
  const stuck = webhookTo(silent.address, { timeoutMs: 1e6 });
  stuck.webhook.send(event(1));
  await until(() => silent.heard.length === 1, 'it is on its way');
  await stuck.webhook.close();
  expect(stuck.complaints()).toEqual([['error', 'no answer in time']]);
});
