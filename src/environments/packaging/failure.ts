import { PungiError } from '../../base/errors.js';
import type { ToolEnd } from '../../sandbox/tool.js';
import { listed } from './errand.js';
import { explanationOf } from './explanation.js';
import type { PackagerTool, PackageSource } from './packager.js';

export interface Attempt {
  tool: PackagerTool;
  /** Ends the sentence "numpy could not be …". */
  goal: 'installed' | 'resolved' | 'pruned';
  asked: readonly string[];
  sources: readonly PackageSource[];
}

/** How tools say that there are files of a package, but none that may be used. */
const ONLY_SOURCE = /no usable wheels|building from source is disabled/i;
/** pip says the same of a package that does not exist. */
const NOTHING_USABLE = /from versions: none/i;
const ABSENT = [
  /([\w.-]+) (?:was|were) not found in the cache/g,
  /[Ff]ailed to (?:download|fetch wheel):? `?([^`\s]+)/g,
];

export function failure(attempt: Attempt, end: ToolEnd): PungiError {
  const { tool, goal, asked } = attempt;
  const explanation = explain(tool, end);
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `${listed(asked)} could not be ${goal}.${wheelsOnly(attempt, explanation)}`,
    { explanation, tool: `${tool.name} ${tool.version}` },
  );
}

/** `end` is that of the attempt with nothing but the cache, where there was one. */
export function unreachable(attempt: Attempt, hosts: string[], end: ToolEnd): PungiError {
  const { tool, goal, asked } = attempt;
  const explanation = explain(tool, end);
  const missing = tool.name === 'uv' ? absentIn(explanation) : [];
  const cache =
    missing.length > 0
      ? `, and these are not in the cache: ${missing.join(', ')}`
      : tool.name === 'uv'
        ? ', and what is in the cache does not suffice'
        : ', and pip cannot install from its cache alone';
  return new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `${listed(asked)} could not be ${goal}. The package index cannot be reached (${hosts.join(', ')})${cache}.`,
    { explanation, unreachable: hosts, missing, tool: `${tool.name} ${tool.version}` },
  );
}

function explain({ name }: PackagerTool, { stderr, stdout, status, signal }: ToolEnd): string {
  return (
    explanationOf(stderr) || explanationOf(stdout) || `${name} ended with ${signal ?? `status ${status}`}.`
  );
}

function wheelsOnly({ tool, sources }: Attempt, explanation: string): string {
  if (sources.includes('sdist')) return '';
  const remedy = 'with PACKAGE_SOURCES=sdist it would be built from its source, in a sandbox.';
  if (ONLY_SOURCE.test(explanation)) return ` Only wheels are allowed, and there is none to use; ${remedy}`;
  if (tool.name === 'pip' && NOTHING_USABLE.test(explanation)) {
    return ` Either it does not exist, or it has no wheel for this Python, and only wheels are allowed; ${remedy}`;
  }
  return '';
}

const absentIn = (explanation: string): string[] => [
  ...new Set(ABSENT.flatMap((pattern) => [...explanation.matchAll(pattern)].map((match) => match[1]!))),
];
