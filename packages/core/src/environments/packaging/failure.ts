import { PungiError } from '../../base/errors.js';
import type { ToolEnd } from '../../sandbox/tool.js';
import { explanationOf } from './explanation.js';
import type { PackageSource, Uv } from './packager.js';
import { listed } from './task.js';

export interface Attempt {
  uv: Uv;
  /** Ends the sentence "numpy could not be …". */
  goal: 'installed' | 'resolved' | 'pruned';
  asked: readonly string[];
  sources: readonly PackageSource[];
}

/** Matches uv's messages for packages without usable files. */
const ONLY_SOURCE = /no usable wheels|building from source is disabled/i;
const ABSENT = [
  /([\w.-]+) (?:was|were) not found in the cache/g,
  /[Ff]ailed to (?:download|fetch wheel):? `?([^`\s]+)/g,
];

export function failure(attempt: Attempt, end: ToolEnd): PungiError {
  const { uv, goal, asked } = attempt;
  const explanation = explain(end);
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `${listed(asked)} could not be ${goal}.${wheelsOnly(attempt, explanation)}`,
    { explanation, tool: `uv ${uv.version}` },
  );
}

/** `end` is the result of the attempt with only the cache. */
export function unreachable(attempt: Attempt, hosts: string[], end: ToolEnd): PungiError {
  const { uv, goal, asked } = attempt;
  const explanation = explain(end);
  const missing = absentIn(explanation);
  const cache =
    missing.length > 0
      ? `these are not in the cache: ${missing.join(', ')}`
      : 'what is in the cache does not suffice';
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `${listed(asked)} could not be ${goal}. The package index cannot be reached (${hosts.join(', ')}), and ${cache}.`,
    { explanation, unreachable: hosts, missing, tool: `uv ${uv.version}` },
  );
}

const explain = ({ stderr, stdout, status, signal }: ToolEnd): string =>
  explanationOf(stderr) || explanationOf(stdout) || `uv ended with ${signal ?? `status ${status}`}.`;

function wheelsOnly({ sources }: Attempt, explanation: string): string {
  if (sources.includes('sdist') || !ONLY_SOURCE.test(explanation)) return '';
  return ' Only wheels are allowed, and there is none to use; with PACKAGE_SOURCES=sdist it would be built from its source, in a sandbox.';
}

const absentIn = (explanation: string): string[] => [
  ...new Set(ABSENT.flatMap((pattern) => [...explanation.matchAll(pattern)].map((match) => match[1]!))),
];
