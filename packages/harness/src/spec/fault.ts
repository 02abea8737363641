import type { Position } from '@pungi/core/config';

export type { Position };

/** One thing that is wrong with a specification. */
export interface SpecFault {
  file: string;
  /** Null where the file as a whole is meant. */
  position: Position | null;
  /** What it stands at, such as "tools[0].tests[2].expected"; empty for the file as a whole. */
  path: string;
  message: string;
  /** What was probably meant, or what to do. */
  suggestion?: string;
}

export type SpecPath = readonly (string | number)[];

/** As people write it: tools[0].tests. */
export function specPathText(path: SpecPath): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

/** One line: a.yaml:3:7: tools[0].nam is not known (did you mean "name"?) */
export function faultText({ file, position, path, message, suggestion }: SpecFault): string {
  const at = position === null ? file : `${file}:${position.line}:${position.column}`;
  const said = path === '' ? message : `${path} ${message}`;
  return `${at}: ${said}${suggestion === undefined ? '' : ` (${suggestion})`}`;
}

/** a.yaml:3:7: warning: tools[0].nam is not known and is ignored (did you mean "name"?) */
export const warningText = (warning: SpecFault): string =>
  faultText({ ...warning, path: `warning:${warning.path === '' ? '' : ` ${warning.path}`}` });

const LONGEST_WAY = 12;

/** From one to another, for a sentence. */
export const wayText = (way: readonly string[], between: string): string =>
  (way.length <= LONGEST_WAY
    ? way
    : [...way.slice(0, LONGEST_WAY / 2), '…', ...way.slice(-LONGEST_WAY / 2)]
  ).join(between);

/** In the order of the files and their lines. What the rows of a matrix have in common is told once. */
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
