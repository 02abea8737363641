import { Expected, TestCase } from '@pungi/core/contract';
import { isMap, type JsonMap } from '../judge/answer.js';
import type { SpecFault } from './fault.js';
import { expandMatrix, MAX_ROWS, type Row, rowText } from './plan.js';
import { type Kind, mapOf, type WrittenTest } from './raw.js';
import { parseShape } from './shape.js';
import {
  PLANNED_KEYS,
  resolveTest,
  type Scope,
  substitute,
  TooMuchText,
  VERBATIM_KEYS,
} from './substitute.js';
import { type Known, scopeOf, unknownReferences } from './variables.js';

/** A test with everything substituted except captured values. */
export interface ParsedTest {
  kind: Kind;
  target: string;
  /** The name as written, by which others depend on it. */
  baseName: string;
  /** The name with the row of its matrix. */
  name: string;
  row: Row | undefined;
  test: TestCase;
  written: WrittenTest;
}

interface ParsedTests {
  tests: ParsedTest[];
  faults: SpecFault[];
  warnings: SpecFault[];
}

/** Makes one test per row of the matrix, with all known values substituted. */
export function parseTests(written: WrittenTest, known: Known): ParsedTests {
  try {
    return parseRows(written, known);
  } catch (error) {
    if (!(error instanceof TooMuchText)) throw error;
    return { tests: [], faults: [written.source.fault(written.at, error.message)], warnings: [] };
  }
}

function parseRows(written: WrittenTest, known: Known): ParsedTests {
  const { source, at } = written;
  const raw = written.value;
  if (!isMap(raw)) return parseRow(written, raw, undefined, known);
  const rows = rowsOf(raw['matrix'], known);
  if (rows !== 'too many') {
    const parsed = (rows ?? [undefined]).map((row) => parseRow(written, raw, row, known));
    return {
      tests: parsed.flatMap(({ tests }) => tests),
      faults: parsed.flatMap(({ faults }) => faults),
      warnings: parsed.flatMap(({ warnings }) => warnings),
    };
  }
  return {
    tests: [],
    faults: [source.fault([...at, 'matrix'], `makes more than ${MAX_ROWS} tests`, { atKey: true })],
    warnings: [],
  };
}

/** A matrix of the wrong shape is reported by the format check. */
function rowsOf(matrix: unknown, known: Known): Row[] | 'too many' | undefined {
  const { value } = substitute(matrix, scopeOf(known), { isLast: false, later: known.captured });
  const isMatrix =
    isMap(value) && Object.values(value).every((values) => Array.isArray(values) && values.length > 0);
  return isMatrix ? (expandMatrix(value as Record<string, unknown[]>) ?? 'too many') : undefined;
}

function parseRow(written: WrittenTest, raw: unknown, row: Row | undefined, known: Known): ParsedTests {
  const { source, at } = written;
  const own = mapOf(mapOf(raw)['variables']);
  const nearer: JsonMap[] = [row ?? {}, own];
  const scope = scopeOf(known, nearer);
  const value = isMap(raw) ? resolveTest(raw, scope, { isLast: false, later: known.captured }).value : raw;
  const faults = unknownIn(written, unfinished(raw, value, scope), known, [
    ...Object.keys(row ?? {}),
    ...Object.keys(own),
  ]);
  const { data: test, faults: wrong, warnings } = parseShape(TestCase, { source, at, value });
  // An unknown reference also has the wrong type: one fault is enough.
  const reported = new Set(faults.map(({ path }) => path));
  faults.push(...wrong.filter(({ path }) => !reported.has(path)));
  const target = substitute(written.target, scopeOf(known), { isLast: true }).value;
  if (typeof target !== 'string' || test === undefined) return { tests: [], faults, warnings };
  const baseName = String(mapOf(raw)['name']);
  return {
    tests: [
      {
        kind: written.kind,
        target,
        baseName,
        name: row === undefined ? test.name : `${test.name} ${rowText(row)}`,
        row,
        test: { ...test, input: test.input ?? {} },
        written,
      },
    ],
    faults,
    warnings,
  };
}

/** The test before the last substitution: after it, an escaped reference looks like a real one. */
function unfinished(raw: unknown, value: unknown, scope: Scope): unknown {
  if (!isMap(raw) || !isMap(value)) return value;
  const planned = PLANNED_KEYS.filter((key) => Object.hasOwn(raw, key)).map((key) => [
    key,
    substitute(raw[key], scope, { isLast: false }).value,
  ]);
  return { ...value, ...Object.fromEntries(planned) };
}

const onlyChecked = (expected: JsonMap): JsonMap =>
  Object.fromEntries(
    Object.entries(expected).filter(([key]) => Object.hasOwn(Expected.shape, key) && key !== 'expression'),
  );

function unknownIn({ source, at }: WrittenTest, value: unknown, known: Known, nearer: string[]): SpecFault[] {
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    // Ignored keys may hold anything.
    if (VERBATIM_KEYS.includes(key) || !Object.hasOwn(TestCase.shape, key)) return [];
    const checked = key === 'expected' && isMap(part) ? onlyChecked(part) : part;
    const later: ReadonlySet<string> = PLANNED_KEYS.includes(key) ? new Set() : known.captured;
    return unknownReferences({ source, at: [...at, key], value: checked }, known, later, nearer);
  });
}
