import { countText, revealedLine, type Style } from '../../base/terminal.js';
import { sortedFaults } from '../../harness/spec/fault.js';
import type { Parsed } from '../act.js';
import { compileScripts } from './compile-scripts.js';
import { faultLine, loadSpecs, shownFile, warningLine } from './load-specs.js';

export interface ValidateFlags extends Parsed {
  var?: Record<string, string>;
  strict?: boolean;
}

/** What is wrong with specifications; of those that are right, what they hold. */
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
