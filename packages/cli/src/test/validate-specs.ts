import { Pungi } from '@pungi/core';
import { countText, revealedLine, type Style, silentLogger } from '@pungi/core/base';
import {
  configForScripts,
  type LoadedSpecification,
  ScriptEngine,
  ScriptError,
  type SpecFault,
  sortedFaults,
} from '@pungi/harness';
import type { Parsed } from '../act.js';
import { configSources } from '../config-flags.js';
import { faultLine, loadSpecs, shownFile, warningLine } from './load-specs.js';

export interface ValidateFlags extends Parsed {
  var?: Record<string, string>;
  strict?: boolean;
}

/** Checks specifications, and summarizes the valid ones. */
export async function validSpecs(
  paths: readonly string[],
  flags: ValidateFlags,
  style: Style,
): Promise<{ isValid: boolean; json: unknown; text: string }> {
  const loaded = loadSpecs(paths, flags.var);
  const compiled = await compileScripts(loaded.specifications, flags);
  const faults = [...loaded.faults, ...sortedFaults(compiled.faults, loaded.files)];
  const warnings = [...loaded.warnings, ...compiled.warnings];
  const wrong = new Set(compiled.faults.map(({ file }) => file));
  const valid = loaded.specifications
    .filter(
      ({ file, scripts }) =>
        ![file, ...scripts.map(({ script }) => script.file)].some((one) => wrong.has(one!)),
    )
    .map(({ file, specification, tests }) => ({
      file: shownFile(file),
      name: specification.name,
      tests: tests.length,
    }));
  const lines = [
    ...warnings.map((warning) => revealedLine(warningLine(warning))),
    ...faults.map((fault) => revealedLine(faultLine(fault))),
    ...valid.map(
      ({ file, name, tests }) =>
        `${style('green', '✓')} ${revealedLine(file)}: ${revealedLine(name)}, ${countText(tests, 'test')}`,
    ),
    ...(warnings.length === 0 ? [] : [`${style('yellow', '!')} ${countText(warnings.length, 'warning')}`]),
    ...(faults.length === 0 ? [] : [`${style('red', '✗')} ${countText(faults.length, 'fault')}`]),
  ];
  const named = <T extends { file: string }>(all: readonly T[]) =>
    all.map((one) => ({ ...one, file: shownFile(one.file) }));
  return {
    isValid: faults.length === 0 && (warnings.length === 0 || flags.strict !== true),
    json: { valid, faults: named(faults), warnings: named(warnings) },
    text: lines.map((line) => `${line}\n`).join(''),
  };
}

/** A piece of Python in a specification, and how to report its problem. */
interface Piece {
  source: string;
  isExpression: boolean;
  fault(error: ScriptError): SpecFault;
}

/** Compiles all validation scripts and expressions in the sandbox, without running them. */
async function compileScripts(
  specifications: readonly LoadedSpecification[],
  flags: Parsed,
): Promise<{ faults: SpecFault[]; warnings: SpecFault[] }> {
  const pieces = specifications.flatMap(piecesOf);
  const [first] = specifications;
  if (pieces.length === 0 || first === undefined) return { faults: [], warnings: [] };
  let pungi: Pungi | undefined;
  try {
    const config = configForScripts(configSources(flags), []);
    pungi = Pungi.start({ ...config, preinstalledPackages: [] }, silentLogger, 'command');
    const engine = new ScriptEngine({}, pungi);
    const found = await Promise.all(
      pieces.map(async (piece) => {
        const error = await engine.syntaxErrorOf(piece.source, { isExpression: piece.isExpression });
        return error === undefined ? [] : [piece.fault(error)];
      }),
    );
    return { faults: found.flat(), warnings: [] };
  } catch (thrown) {
    const reason = thrown instanceof ScriptError ? thrown.message : String(thrown);
    const message = `the Python in it was not compiled: ${reason}`;
    return { faults: [], warnings: [{ file: first.file, position: null, path: '', message }] };
  } finally {
    await pungi?.close();
  }
}

function piecesOf({ scripts, tests }: LoadedSpecification): Piece[] {
  const own = scripts.map(({ script, fault }) => ({
    source: script.source,
    isExpression: false,
    fault: ({ message, details: { line, column = 1 } }: ScriptError) =>
      fault(line === undefined ? undefined : { line, column }, uncompiled(message)),
  }));
  const expressions = tests.flatMap(({ test, origin }) =>
    [test.expected.expression ?? []].flat().map((source) => ({
      source,
      isExpression: true,
      fault: ({ message }: ScriptError) => {
        const problem = `expected.expression ${uncompiled(message)}; it is ${JSON.stringify(source)}`;
        return { ...origin, path: '', message: problem };
      },
    })),
  );
  return [...own, ...expressions];
}

const uncompiled = (message: string): string =>
  message.replace(/^The script cannot/, 'cannot').replace(/( \(line \d+\))?\.$/, '');
