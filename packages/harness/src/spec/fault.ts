import type { Position } from '@pungi/core/config';

export type { Position };

/** A problem in a specification. */
export interface SpecFault {
  file: string;
  /** Null if the whole file is meant. */
  position: Position | null;
  /** The path, such as "tools[0].tests[2].expected"; empty for the whole file. */
  path: string;
  message: string;
  /** A likely correction. */
  suggestion?: string;
}

export type SpecPath = readonly (string | number)[];

/** Formats a path: tools[0].tests. */
export function specPathText(path: SpecPath): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

/** Formats a fault on one line: a.yaml:3:7: tools[0].nam is not known (did you mean "name"?) */
export function faultText({ file, position, path, message, suggestion }: SpecFault): string {
  const at = position === null ? file : `${file}:${position.line}:${position.column}`;
  const problem = path === '' ? message : `${path} ${message}`;
  return `${at}: ${problem}${suggestion === undefined ? '' : ` (${suggestion})`}`;
}

/** Formats a warning: a.yaml:3:7: warning: tools[0].nam is not known and is ignored (did you mean "name"?) */
export const warningText = (warning: SpecFault): string =>
  faultText({ ...warning, path: `warning:${warning.path === '' ? '' : ` ${warning.path}`}` });

const LONGEST_CHAIN = 12;

/** Joins a chain of names for a sentence. */
export const chainText = (chain: readonly string[], between: string): string =>
  (chain.length <= LONGEST_CHAIN
    ? chain
    : [...chain.slice(0, LONGEST_CHAIN / 2), '…', ...chain.slice(-LONGEST_CHAIN / 2)]
  ).join(between);

/** Sorts faults by file and line. A fault that all rows of a matrix share is reported once. */
export function sortedFaults(faults: readonly SpecFault[], files: readonly string[]): SpecFault[] {
  const once = new Map(faults.map((fault) => [faultText(fault), fault]));
  const place = ({ file, position }: SpecFault) => [
    files.indexOf(file),
    position?.line ?? 0,
    position?.column ?? 0,
  ];
  return [...once.values()]
    .map((fault) => ({ fault, at: place(fault) }))
    .sort(
      (one, other) => one.at.map((part, index) => part - other.at[index]!).find((part) => part !== 0) ?? 0,
    )
    .map(({ fault }) => fault);
}
