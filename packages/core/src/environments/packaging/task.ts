import { PungiError } from '../../base/errors.js';
import { runTool, type ToolCommand, type ToolEnd } from '../../sandbox/tool.js';

import { type JailSettings, runJailedTool } from './build-jail.js';
import { cancelled, type PackageSource, type PackagingOptions, type Uv } from './packager.js';

/** One task, for which uv may run several times within one time limit. */
export class PackagingTask {
  readonly options: PackagingOptions;
  readonly #stopped = new AbortController();
  readonly #what: string;
  readonly #until: number;

  /** `what` begins a sentence: "Installing numpy". */
  constructor(what: string, options: PackagingOptions) {
    this.#what = what;
    this.options = options;
    this.#until = performance.now() + options.timeoutMs;
  }

  get signal(): AbortSignal {
    const { signal } = this.options;
    return signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal;
  }

  /** Ends the running tool and prevents further ones. */
  stop(why: PungiError): void {
    this.#stopped.abort(why);
  }

  report(step: string): void {
    this.options.onStep?.(step);
  }

  /** With a jail it may build source distributions. */
  async run(command: ToolCommand, jail?: JailSettings): Promise<ToolEnd> {
    const { signal } = this;
    const left = this.#until - performance.now();
    if (left <= 0) throw this.#tooLong();
    const onLine = (line: string) => {
      const step = progressOf(line);
      // A resolution is reported once.
      const isRepeated = step?.startsWith('Resolved') === true && !this.#what.startsWith('Resolving');
      if (step !== undefined && !isRepeated) this.report(step);
    };
    const options = { timeoutMs: Math.ceil(left), onLine, signal };
    try {
      return await (jail ? runJailedTool(command, jail, options) : runTool(command, options));
    } catch (error) {
      if (signal.aborted) throw cancelled(signal.reason);
      if (error instanceof PungiError && error.code === 'EXECUTION_TIMEOUT') throw this.#tooLong();
      throw error;
    }
  }

  #tooLong(): PungiError {
    const { timeoutMs } = this.options;
    return new PungiError(
      'PACKAGE_INSTALLATION_ERROR',
      `${this.#what} took longer than ${timeoutMs} ms (PACKAGE_TIMEOUT_MS).`,
      { timeoutMs },
    );
  }
}

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

const MOST_CHARACTERS = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const ANSI = /\u001b\[[0-9;?]*[A-Za-z]/g;

const PROGRESS =
  /^\s*(Resolved|Prepared|Installed|Uninstalled|Audited|Checked|Downloading|Downloaded|Building|Built|Updating|Updated|[+~-]) /;
const CHATTER = /^(Using Python |Using CPython |warning: |DEBUG |TRACE )/;

/** Removes colours and credentials. */
export function cleanText(text: string): string {
  return text
    .replace(ANSI, '')
    .replaceAll('\r', '')
    .replace(/(\w:\/\/)[^\s/@]+@/g, '$1***@');
}

/** Returns the step that a line of a tool reports, if any. */
export function progressOf(line: string): string | undefined {
  const text = cleanText(line);
  return PROGRESS.test(text) ? text.trim() : undefined;
}

/** Returns the tool's explanation of a failure, without progress and warnings. */
export function explanationOf(output: string): string {
  const lines: string[] = [];
  let isChatter = false;
  for (const line of cleanText(output).split('\n')) {
    // A warning goes on in lines that are indented, as is the head of an error that has a sign before it.
    isChatter = CHATTER.test(line) || (isChatter && /^\s+[^\s\u00d7]/.test(line));
    if (!isChatter && !PROGRESS.test(line)) lines.push(line.trimEnd());
  }
  const text = lines.join('\n').trim();
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

const LONGEST_LIST = 200;

/** Formats requirements or names in a sentence. */
export function listed(texts: readonly string[]): string {
  const list = cleanText(texts.join(', '));
  return list.length > LONGEST_LIST ? `${list.slice(0, LONGEST_LIST)}…` : list;
}
