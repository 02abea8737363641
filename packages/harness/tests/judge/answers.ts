import { Expected } from '../../../core/src/contract/spec.js';
import type { Answer } from '../../src/judge/answer.js';
import { type Facts, judge } from '../../src/judge/judge.js';

export const text = (...texts: string[]): Answer => ({
  kind: 'result',
  of: 'tool',
  result: { content: texts.map((one) => ({ type: 'text', text: one })) },
});

export const structured = (value: unknown): Answer => ({
  kind: 'result',
  of: 'tool',
  result: { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value },
});

export const resource = (...contents: object[]): Answer => ({
  kind: 'result',
  of: 'resource',
  result: { contents, ttlMs: 5, cacheScope: 'private', resultType: 'complete' },
});

export const prompt = (...texts: string[]): Answer => ({
  kind: 'result',
  of: 'prompt',
  result: { messages: texts.map((one) => ({ role: 'user', content: { type: 'text', text: one } })) },
});

export const errorResult = (message: string): Answer => ({
  kind: 'result',
  of: 'tool',
  result: { isError: true, content: [{ type: 'text', text: message }] },
});

export const FACTS: Facts = { durationMs: 5, progress: 0, logs: 0 };

/** The failures of an expectation as it is written in a specification. */
export const judged = (expected: unknown, answer: Answer, facts: Partial<Facts> = {}) => {
  const read = Expected.parse(expected);
  const schemas = read.schema === undefined ? [] : [{ from: 'schema', schema: read.schema }];
  return judge({ expected: read, schemas }, answer, { ...FACTS, ...facts });
};

export const messages = (...given: Parameters<typeof judged>) =>
  judged(...given).map(({ message }) => message);
