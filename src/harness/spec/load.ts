import { resolve } from 'node:path';
import type { TestSpecification } from '../../contract/spec.js';
import type { JsonMap } from '../judge/answer.js';
import { buildPlan } from './build-plan.js';
import { type SpecFault, sortedFaults } from './fault.js';
import { mergeSpecifications } from './merge.js';
import { parseFile } from './parse-file.js';
import { type ParsedTest, parseTests } from './parse-tests.js';
import type { PlannedTest } from './plan.js';
import {
  capturedNames,
  GROUPS,
  listOf,
  mapOf,
  mergedVariables,
  numbersOutsideJson,
  scriptNames,
  writtenTests,
} from './raw.js';
import { SchemaFiles } from './schema-files.js';
import { type PlacedScript, Scripts } from './scripts.js';
import type { Source } from './source.js';
import { readTree } from './tree.js';
import type { Known } from './variables.js';

export interface LoadOptions {
  /** For ${env:NAME}. */
  environment: Readonly<Record<string, string | undefined>>;
  /** These have the last word about the variables of the files. */
  variables?: JsonMap;
}

export interface LoadedSpecification {
  file: string;
  /** With all that it includes. Its tools, resources and prompts hold their tests row by row. */
  specification: TestSpecification;
  /** In an order in which they can run. */
  tests: PlannedTest[];
  /** All validation scripts, whether or not a test names them. */
  scripts: PlacedScript[];
  /** What is ignored. */
  warnings: SpecFault[];
}

/** The specification, or all that is wrong with it; and every file that was looked at, for those who watch them. */
export type LoadResult =
  | { loaded: LoadedSpecification; faults?: undefined; warnings: SpecFault[]; files: string[] }
  | { loaded?: undefined; faults: SpecFault[]; warnings: SpecFault[]; files: string[] };

export function loadSpecification(path: string, { environment, variables }: LoadOptions): LoadResult {
  const file = resolve(path);
  const { sources, files, faults } = readTree(file);
  const warnings: SpecFault[] = [];
  const known: Known = {
    variables: mergedVariables(sources, variables),
    captured: capturedNames(sources),
    environment,
  };
  const schemas = new SchemaFiles();
  const scripts = new Scripts(scriptNames(sources));
  const parsed = sources.map((source) => {
    const { specification, faults: own, warnings: ignored } = parseFile(source, known, schemas);
    const tests = writtenTests(source).map((written) => parseTests(written, known));
    const numbers = numbersOutsideJson(source.data).map((one) =>
      source.fault(one.path, `is ${one.value}, which JSON cannot hold`),
    );
    faults.push(...own, ...numbers, ...tests.flatMap((one) => one.faults));
    warnings.push(...ignored, ...tests.flatMap((one) => one.warnings));
    if (specification !== undefined) scripts.addAll(source, specification);
    return { specification, tests: tests.flatMap((one) => one.tests) };
  });
  const specifications = parsed.flatMap(({ specification, tests }) =>
    specification === undefined ? [] : [withTests(specification, tests)],
  );
  const [first, ...others] = specifications;
  const merged = first === undefined ? undefined : mergeSpecifications([first, ...others], known.variables);
  const plan = buildPlan(
    parsed.flatMap(({ tests }) => tests),
    {
      written: sources.flatMap(writtenTests).map(({ kind, target, value }) => ({
        kind,
        target,
        name: mapOf(value)['name'],
      })),
      scripts,
      runsScripts: merged?.script_config?.enabled ?? true,
      schemas,
      early: earlyCaptures(sources),
    },
  );
  const root = sources.at(-1);
  if (root?.file === file && sources.every(({ data }) => mapOf(data)['server'] === undefined))
    faults.push(root.fault(['server'], 'is missing; say how to start the server, or where it answers'));
  if (root !== undefined) scripts.warnUnused(root, namedScripts(sources));
  faults.push(...scripts.faults, ...plan.faults);
  const looked = {
    warnings: sortedFaults([...warnings, ...scripts.warnings], files),
    files: [...new Set([...files, ...schemas.files, ...scripts.files])],
  };
  if (faults.length > 0 || merged === undefined) return { faults: sortedFaults(faults, files), ...looked };
  const loaded = { file, specification: merged, tests: plan.tests, scripts: scripts.placed };
  return { loaded: { ...loaded, warnings: looked.warnings }, ...looked };
}

/** Where every row of a matrix is a test of its own. */
function withTests(specification: TestSpecification, tests: readonly ParsedTest[]): TestSpecification {
  const byGroup = new Map<string, ParsedTest[]>();
  for (const test of tests) {
    const [key, index] = test.written.at;
    const group = byGroup.get(`${key} ${index}`);
    if (group === undefined) byGroup.set(`${key} ${index}`, [test]);
    else group.push(test);
  }
  const filled = Object.fromEntries(
    GROUPS.map(({ key }) => [
      key,
      specification[key].map((group, index) => ({
        ...group,
        tests: (byGroup.get(`${key} ${index}`) ?? []).map(({ test }) => test),
      })),
    ]),
  );
  return { ...specification, ...filled };
}

/** Those that tests name. */
const namedScripts = (sources: readonly Source[]): Set<string> =>
  new Set(
    sources
      .flatMap(writtenTests)
      .flatMap(({ value }) => listOf(mapOf(value)['validation_scripts']))
      .filter((name) => typeof name === 'string'),
  );

/** What the steps before all tests capture. */
const earlyCaptures = (sources: readonly Source[]): Set<string> =>
  new Set(
    sources
      .flatMap(({ data }) => listOf(mapOf(data)['setup']))
      .flatMap((step) => Object.keys(mapOf(mapOf(step)['capture']))),
  );
