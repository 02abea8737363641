import { dirname, resolve } from 'node:path';
import type { TestSpecification } from '@pungi/core/contract';
import type { JsonMap } from '../judge/answer.js';
import { buildPlan } from './build-plan.js';
import { parseSource, readText, type Source, type SpecFault, sortedFaults } from './fault.js';
import { parseFile, SchemaFiles } from './parse-file.js';
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
import { type PlacedScript, Scripts } from './scripts.js';

import type { Known } from './variables.js';

export interface LoadOptions {
  /** The values of ${env:NAME}. */
  environment: Readonly<Record<string, string | undefined>>;
  /** These override the variables of the files. */
  variables?: JsonMap;
}

export interface LoadedSpecification {
  file: string;
  /**
   * The specification with everything it includes. Its tools, resources and prompts contain their tests row
   * by row.
   */
  specification: TestSpecification;
  /** Ordered so that dependencies come first. */
  tests: PlannedTest[];
  /** All validation scripts, used or not. */
  scripts: PlacedScript[];
  /** Settings that are ignored. */
  warnings: SpecFault[];
}

/** The specification or its faults, and every file that was read, for --watch. */
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
      source.fault(one.path, `is ${one.value}, which JSON cannot represent`),
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
    faults.push(root.fault(['server'], 'is missing; add a command that starts the server, or its url'));
  if (root !== undefined) scripts.warnUnused(root, namedScripts(sources));
  faults.push(...scripts.faults, ...plan.faults);
  const read = {
    warnings: sortedFaults([...warnings, ...scripts.warnings], files),
    files: [...new Set([...files, ...schemas.files, ...scripts.files])],
  };
  if (faults.length > 0 || merged === undefined) return { faults: sortedFaults(faults, files), ...read };
  const loaded = { file, specification: merged, tests: plan.tests, scripts: scripts.placed };
  return { loaded: { ...loaded, warnings: read.warnings }, ...read };
}

/** Replaces each matrix by one test per row. */
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

/** The scripts that tests name. */
const namedScripts = (sources: readonly Source[]): Set<string> =>
  new Set(
    sources
      .flatMap(writtenTests)
      .flatMap(({ value }) => listOf(mapOf(value)['validation_scripts']))
      .filter((name) => typeof name === 'string'),
  );

/** The names that setup steps capture before all tests. */
const earlyCaptures = (sources: readonly Source[]): Set<string> =>
  new Set(
    sources
      .flatMap(({ data }) => listOf(mapOf(data)['setup']))
      .flatMap((step) => Object.keys(mapOf(mapOf(step)['capture']))),
  );

const MAX_DEPTH = 8;
const MAX_FILES = 200;

/** A specification with all its includes. */
interface SourceTree {
  /** Included files come before the file that includes them; the specification itself is last. */
  sources: Source[];
  files: string[];
  faults: SpecFault[];
}

function readTree(file: string): SourceTree {
  const tree: SourceTree = { sources: [], files: [file], faults: [] };
  const read = readText(file);
  if ('problem' in read) {
    const message = `the specification cannot be read: ${read.problem}`;
    tree.faults.push({ file, position: null, path: '', message });
    return tree;
  }
  add(tree, file, read.text, [file]);
  return tree;
}

/** `way` is the chain of includes from the specification to this file. */
function add(tree: SourceTree, file: string, text: string, way: readonly string[]): void {
  const source = parseSource(file, text);
  if (Array.isArray(source)) {
    tree.faults.push(...source);
    return;
  }
  for (const [index, name] of includesOf(source.data).entries()) {
    const wrong = (message: string) => tree.faults.push(source.fault(['includes', index], message));
    const path = resolve(dirname(file), name);
    if (way.includes(path)) {
      wrong(`includes itself: ${[...way.slice(way.indexOf(path)), path].join(' includes ')}`);
      continue;
    }
    if (tree.files.includes(path)) continue; // by another way
    if (way.length > MAX_DEPTH || tree.files.length >= MAX_FILES) {
      wrong(`exceeds the limit of ${MAX_FILES} included files, nested ${MAX_DEPTH} deep`);
      continue;
    }
    const read = readText(path);
    tree.files.push(path);
    if ('problem' in read) wrong(`cannot be read: ${read.problem}`);
    else add(tree, path, read.text, [...way, path]);
  }
  tree.sources.push(source);
}

/** Includes of the wrong shape are reported by the format check. */
function includesOf(data: unknown): string[] {
  const includes = (data as { includes?: unknown } | null)?.includes;
  return Array.isArray(includes) && includes.every((one) => typeof one === 'string') ? includes : [];
}

/**
 * Merges several specifications. The last is the specification itself, the others are its includes: their tests, scripts and
 * steps are added, and their server settings apply where it has none.
 */
function mergeSpecifications(
  all: readonly [TestSpecification, ...TestSpecification[]],
  variables: JsonMap,
): TestSpecification {
  const own = all.at(-1)!;
  const server = all.findLast((one) => one.server !== undefined)?.server;
  const scripts = all.findLast((one) => one.script_config !== undefined)?.script_config;
  const capabilities = all.flatMap((one) => one.capabilities ?? []);
  return {
    ...own,
    variables,
    setup: all.flatMap(({ setup }) => setup),
    // Cleanup runs in the reverse order of setup.
    cleanup: all.toReversed().flatMap(({ cleanup }) => cleanup),
    tools: all.flatMap(({ tools }) => tools),
    resources: all.flatMap(({ resources }) => resources),
    prompts: all.flatMap(({ prompts }) => prompts),
    validation_scripts: all.flatMap(({ validation_scripts }) => validation_scripts),
    ...(server === undefined ? {} : { server }),
    ...(scripts === undefined ? {} : { script_config: scripts }),
    ...(capabilities.length === 0 ? {} : { capabilities: Object.assign({}, ...capabilities) }),
  };
}
