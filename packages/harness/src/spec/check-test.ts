import type { Expected, FieldExpectation, Step } from '@pungi/core/contract';
import { schemaProblem } from '../judge/schema.js';
import { pathProblem } from '../judge/select.js';
import { shown } from '../judge/shown.js';
import { patternProblem } from '../judge/text.js';
import type { Source, SpecFault, SpecPath } from './fault.js';
import type { ParsedTest } from './parse-tests.js';
import { referencesIn } from './reference.js';

interface Wrong {
  path: SpecPath;
  message: string;
  suggestion?: string | undefined;
}

/** Checks a test of valid shape for meaningless settings. */
export function checkTest({ test, kind, written: { source, at } }: ParsedTest): SpecFault[] {
  const wrong = [
    ...checkExpected(test.expected).map((one) => ({ ...one, path: ['expected', ...one.path] })),
    ...checkCapture(test.capture),
    ...checkSteps('setup', test.setup),
    ...checkSteps('cleanup', test.cleanup),
    ...checkInput(kind, test.input),
    ...(kind === 'tool' && test.complete !== undefined
      ? [
          {
            path: ['complete'],
            message: 'is only for prompts and resource templates: tools have no completion',
          },
        ]
      : []),
  ];
  return wrong.map(({ path, message, suggestion }) =>
    source.fault([...at, ...path], message, { suggestion }),
  );
}

export const stepFaults = (source: Source, key: string, steps: readonly Step[]): SpecFault[] =>
  checkSteps(key, steps).map(({ path, message, suggestion }) => source.fault(path, message, { suggestion }));

const checkSteps = (key: string, steps: readonly Step[]): Wrong[] =>
  steps.flatMap(({ capture }, index) =>
    checkCapture(capture).map((one) => ({ ...one, path: [key, index, ...one.path] })),
  );

function checkCapture(capture: Readonly<Record<string, string>>): Wrong[] {
  return Object.entries(capture).flatMap(([name, path]) => {
    const found = checkPath(['capture', name], path);
    if (/^[A-Za-z_][\w-]*$/.test(name)) return found;
    const message = 'is not a valid variable name: use letters, digits, _ and -, not starting with a digit';
    return [{ path: ['capture', name], message }, ...found];
  });
}

function checkInput(kind: ParsedTest['kind'], input: unknown): Wrong[] {
  const isMap = typeof input === 'object' && input !== null && !Array.isArray(input);
  // A captured value may be a map.
  if (isMap || (typeof input === 'string' && referencesIn(input).length > 0)) return [];
  const what = kind === 'tool' ? 'the arguments of the tool' : `the arguments of the ${kind}`;
  return [{ path: ['input'], message: `must be a map, ${what}; it is ${shown(input)}` }];
}

function checkExpected(expected: Expected): Wrong[] {
  const { schema, progress, logs } = expected;
  const problem = schema === undefined ? undefined : schemaProblem(schema);
  return [
    ...expected.fields.flatMap((field, index) =>
      checkField(field).map((one) => ({ ...one, path: ['fields', index, ...one.path] })),
    ),
    ...checkPattern(['error_message_pattern'], expected.error_message_pattern),
    ...checkPattern(['text_pattern'], expected.text_pattern),
    ...expected.snapshot_ignore.flatMap((path, index) => checkPath(['snapshot_ignore', index], path)),
    ...(problem === undefined ? [] : [{ path: ['schema'], message: problem }]),
    ...(typeof progress === 'object' ? checkOrder(['progress'], progress.min, progress.max) : []),
    ...(typeof logs === 'object' ? checkOrder(['logs'], logs.min, logs.max) : []),
  ];
}

function checkField(field: FieldExpectation): Wrong[] {
  const { type, field_type = type } = field;
  const twice = `is ${type}, but field_type is ${field_type}`;
  return [
    ...checkPath(['path'], field.path),
    ...checkPattern(['pattern'], field.pattern),
    ...(type === field_type || type === undefined ? [] : [{ path: ['type'], message: twice }]),
    ...checkOrder(['min'], field.min, field.max),
    ...checkOrder(['min_length'], field.min_length, field.max_length),
  ];
}

/** A path or pattern that contains a captured value can be checked only after substitution. */
const isComplete = (text: string) => referencesIn(text).length === 0;

function checkPath(at: SpecPath, path: string): Wrong[] {
  const problem = isComplete(path) ? pathProblem(path) : undefined;
  if (problem === undefined) return [];
  const rooted = path.startsWith('[') ? `$${path}` : `$.${path}`;
  const suggestion = pathProblem(rooted) === undefined ? `did you mean "${rooted}"?` : undefined;
  return [{ path: at, message: `${problem}; it is ${shown(path)}`, suggestion }];
}

function checkPattern(at: SpecPath, pattern: string | undefined): Wrong[] {
  const problem = pattern !== undefined && isComplete(pattern) ? patternProblem(pattern) : undefined;
  return problem === undefined ? [] : [{ path: at, message: `${problem}; it is ${shown(pattern)}` }];
}

const checkOrder = (path: SpecPath, min: number | undefined, max: number | undefined): Wrong[] =>
  min !== undefined && max !== undefined && min > max
    ? [{ path, message: `is greater than the maximum: ${min} and ${max}` }]
    : [];
