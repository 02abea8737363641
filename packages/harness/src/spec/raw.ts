import type { TestResult } from '@pungi/core/contract';
import { isMap, type JsonMap } from '../judge/answer.js';
import type { Source, SpecPath } from './fault.js';

/** Reads specifications before they are validated. */

export type Kind = Exclude<TestResult['kind'], 'server'>;

export const GROUPS = [
  { key: 'tools', kind: 'tool', target: 'name' },
  { key: 'resources', kind: 'resource', target: 'uri_template' },
  { key: 'prompts', kind: 'prompt', target: 'name' },
] as const satisfies { key: string; kind: Kind; target: string }[];

export interface WrittenTest {
  source: Source;
  at: SpecPath;
  kind: Kind;
  target: unknown;
  value: unknown;
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const mapOf = (value: unknown): JsonMap => (isMap(value) ? value : {});

export function writtenTests(source: Source): WrittenTest[] {
  const data = mapOf(source.data);
  const grouped = GROUPS.flatMap(({ key, kind, target }) =>
    listOf(data[key]).flatMap((group, index) =>
      listOf(mapOf(group)['tests']).map((value, place) => ({
        source,
        at: [key, index, 'tests', place],
        kind,
        target: mapOf(group)[target],
        value,
      })),
    ),
  );
  return [...grouped, ...errorTests(source).flatMap(({ test }) => test ?? [])];
}

/**
 * Finds numbers that YAML can express and JSON cannot: sent to a server or a script they would silently
 * become null.
 */
export function numbersOutsideJson(
  value: unknown,
  path: (string | number)[] = [],
): { path: SpecPath; value: number }[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => numbersOutsideJson(item, [...path, index]));
  return Object.entries(mapOf(value)).flatMap(([key, item]) => numbersOutsideJson(item, [...path, key]));
}

/** Everything except the tests, which are checked one by one. */
export function withoutTests(whole: unknown): unknown {
  if (!isMap(whole)) return whole;
  const { [ERROR_TESTS]: errors, ...rest } = whole;
  const data = Array.isArray(errors) ? rest : whole;
  const emptied = (group: unknown) =>
    isMap(group) && Array.isArray(group['tests']) ? { ...group, tests: [] } : group;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      GROUPS.some((group) => group.key === key) && Array.isArray(value) ? value.map(emptied) : value,
    ]),
  );
}

/** Names that steps and tests capture: their values are known only while tests run. */
export function capturedNames(sources: readonly Source[]): Set<string> {
  const steps = (holder: JsonMap) => [...listOf(holder['setup']), ...listOf(holder['cleanup'])];
  return new Set(
    sources.flatMap((source) => {
      const tests = writtenTests(source).map(({ value }) => mapOf(value));
      const holders = [...tests, ...[mapOf(source.data), ...tests].flatMap(steps)];
      return holders.flatMap((holder) => Object.keys(mapOf(mapOf(holder)['capture'])));
    }),
  );
}

export const scriptNames = (sources: readonly Source[]): string[] =>
  sources
    .map(({ data }) => mapOf(data))
    .flatMap((data) => [
      ...listOf(data['validation_scripts']),
      ...listOf(mapOf(data['script_config'])['scripts']),
    ])
    .map((script) => mapOf(script)['name'])
    .filter((name) => typeof name === 'string');

/** An including file overrides the variables of included files, and the caller overrides both. */
export const mergedVariables = (sources: readonly Source[], given: JsonMap = {}): JsonMap =>
  Object.assign({}, ...sources.map(({ data }) => mapOf(mapOf(data)['variables'])), given);

/** The key in specifications written for mandrel that lists calls which must fail. */
const ERROR_TESTS = 'error_tests';

interface ErrorTest {
  at: SpecPath;
  /** Undefined if it does not name a tool. */
  test: { source: Source; at: SpecPath; kind: 'tool'; target: string; value: JsonMap } | undefined;
}

/**
 * Turns each into a tool test that expects an error. `tool`, or `tool` and `arguments` in its input, name the
 * tool.
 */
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
