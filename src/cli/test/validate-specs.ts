import { countText } from '../../base/terminal/amounts.js';
import { revealedLine } from '../../base/terminal/printable.js';
import type { Style } from '../../base/terminal/style.js';
import { faultLine, loadSpecs, shownFile } from './load-specs.js';

/** What is wrong with specifications; of those that are right, what they hold. */
export function validSpecs(
  paths: readonly string[],
  variables: Record<string, string> | undefined,
  style: Style,
): { faults: number; json: unknown; text: string } {
  const { specifications, faults } = loadSpecs(paths, variables);
  const valid = specifications.map(({ file, specification, tests }) => ({
    file: shownFile(file),
    name: specification.name,
    tests: tests.length,
  }));
  const lines = [
    ...faults.map((fault) => revealedLine(faultLine(fault))),
    ...valid.map(
      ({ file, name, tests }) =>
        `${style('green', '✓')} ${revealedLine(file)}: ${revealedLine(name)}, ${countText(tests, 'test')}`,
    ),
    ...(faults.length === 0 ? [] : [`${style('red', '✗')} ${countText(faults.length, 'fault')}`]),
  ];
  return {
    faults: faults.length,
    json: { valid, faults: faults.map((fault) => ({ ...fault, file: shownFile(fault.file) })) },
    text: lines.map((line) => `${line}\n`).join(''),
  };
}
