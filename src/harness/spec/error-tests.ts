import { isMap, type JsonMap } from '../judge/answer.js';
import type { SpecPath } from './fault.js';
import type { Source } from './source.js';

/** The key of specifications written for mandrel that lists calls which must fail. */
export const ERROR_TESTS = 'error_tests';

export interface ErrorTest {
  at: SpecPath;
  /** Undefined where it does not say which tool is called. */
  test: { source: Source; at: SpecPath; kind: 'tool'; target: string; value: JsonMap } | undefined;
}

/** Each is a test of a tool that expects an error. The tool is named by `tool`, or by `tool` and `arguments` in its input. */
export function errorTests(source: Source): ErrorTest[] {
  const written = isMap(source.data) ? source.data[ERROR_TESTS] : undefined;
  if (!Array.isArray(written)) return [];
  return written.map((item: unknown, index) => {
    const at = [ERROR_TESTS, index];
    const call = isMap(item) ? callOf(item) : undefined;
    if (call === undefined) return { at, test: undefined };
    const { tool: _, ...rest } = item as JsonMap;
    const value = { ...rest, input: call.input, expected: expectedOf(rest['expected']) };
    return { at, test: { source, at, kind: 'tool', target: call.tool, value } };
  });
}

function callOf({ tool, input }: JsonMap): { tool: string; input: unknown } | undefined {
  if (typeof tool === 'string') return { tool, input: input ?? {} };
  if (!isMap(input)) return undefined;
  const { tool: inner, arguments: args = {}, ...others } = input;
  const isCall = typeof inner === 'string' && Object.keys(others).length === 0;
  return isCall ? { tool: inner, input: args ?? {} } : undefined;
}

const expectedOf = (expected: unknown): unknown =>
  expected === undefined || expected === null || isMap(expected) ? { error: true, ...expected } : expected;
