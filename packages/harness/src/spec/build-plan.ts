import { checkTest } from './check-test.js';
import { arrange, idOf, type Linked, link, type Nameable } from './dependencies.js';
import type { SpecFault } from './fault.js';
import type { SchemaFiles } from './parse-file.js';
import type { ParsedTest } from './parse-tests.js';
import type { PlannedTest } from './plan.js';
import type { Scripts } from './scripts.js';

interface PlanParts {
  /** All tests as written, whether or not they are valid. */
  written: readonly Nameable[];
  scripts: Scripts;
  runsScripts: boolean;
  schemas: SchemaFiles;
  /** Names that are captured before any test runs. */
  early: ReadonlySet<string>;
}

/** Completes tests with all they need, in an order in which they can run. */
export function buildPlan(
  parsed: readonly ParsedTest[],
  parts: PlanParts,
): { tests: PlannedTest[]; faults: SpecFault[] } {
  const faults: SpecFault[] = parsed.flatMap(checkTest);
  const linked = identified(parsed, faults);
  faults.push(...link(linked, parts.written, parts.early));
  const { order, faults: circles } = arrange(linked);
  faults.push(...circles);
  const tests = order.map((one) => planned(one, parts, faults));
  return { tests, faults };
}

function identified(parsed: readonly ParsedTest[], faults: SpecFault[]): Linked[] {
  const taken = new Map<string, ParsedTest>();
  return parsed.map((one) => {
    const { source, at, value } = one.written;
    const id = idOf(one);
    const first = taken.get(id);
    // Rows of one matrix may look alike if their values are cut.
    const isRow = first !== undefined && first.written.value === value;
    if (first !== undefined && !isRow) {
      const { file, path, position } = first.written.source.fault([...first.written.at, 'name'], '');
      const where = position === null ? path : `line ${position.line}`;
      const other = file === source.file ? where : `${file}, ${where}`;
      faults.push(
        source.fault([...at, 'name'], `is already the name of another test of ${one.target}, in ${other}`),
      );
    }
    let unique = id;
    for (let count = 2; taken.has(unique); count += 1) unique = `${id} #${count}`;
    taken.set(unique, one);
    return { id: unique, parsed: one, dependsOn: [] };
  });
}

function planned({ id, parsed, dependsOn }: Linked, parts: PlanParts, faults: SpecFault[]): PlannedTest {
  const { test, kind, target, name, row, written } = parsed;
  const { source, at } = written;
  const scripts = test.validation_scripts.flatMap((script, index) => {
    const place = [...at, 'validation_scripts', index];
    const found =
      typeof script === 'string'
        ? parts.scripts.get(script, source, place)
        : parts.scripts.read(source, place, script);
    return found ?? [];
  });
  const { schema, schema_file: file } = test.expected;
  const schemas: PlannedTest['schemas'] = schema === undefined ? [] : [{ from: 'schema', schema }];
  if (file !== undefined) {
    const read = parts.schemas.get(file, source, [...at, 'expected', 'schema_file']);
    if ('fault' in read) faults.push(read.fault);
    else schemas.push(read.schema);
  }
  return {
    id,
    kind,
    target,
    name,
    test,
    ...(row === undefined ? {} : { row }),
    dependsOn: [...new Set(dependsOn.map((one) => one.id))],
    scripts: parts.runsScripts ? scripts : [],
    schemas,
    ...(test.skip === false ? {} : { skip: test.skip === true ? 'skipped by the specification' : test.skip }),
    origin: { file: source.file, position: source.fault(at, '').position },
  };
}
