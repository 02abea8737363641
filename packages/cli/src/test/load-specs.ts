import { relative } from 'node:path';
import {
  faultText,
  type LoadedSpecification,
  loadSpecification,
  type SpecFault,
  warningText,
} from '@pungi/harness';

interface Loaded {
  specifications: LoadedSpecification[];
  faults: SpecFault[];
  /** Settings that are ignored. */
  warnings: SpecFault[];
  /** Every file that was read. */
  files: string[];
}

/** Loads all specifications, so that all faults are reported at once. */
export function loadSpecs(paths: readonly string[], variables: Record<string, string> = {}): Loaded {
  const results = [...new Set(paths)].map((path) =>
    loadSpecification(path, { environment: process.env, variables }),
  );
  return {
    specifications: results.flatMap(({ loaded }) => loaded ?? []),
    faults: results.flatMap(({ faults }) => faults ?? []),
    warnings: results.flatMap(({ warnings }) => warnings),
    files: [...new Set(results.flatMap(({ files }) => files))],
  };
}

/** Shows a path relative to the current folder if it is below it. */
export function shownFile(file: string): string {
  const near = relative('', file);
  return near === '' || near.startsWith('..') ? file : near;
}

export const faultLine = (fault: SpecFault): string => faultText({ ...fault, file: shownFile(fault.file) });

export const warningLine = (warning: SpecFault): string =>
  warningText({ ...warning, file: shownFile(warning.file) });
