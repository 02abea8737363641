import type { CodeSummary } from '../contract/disclosure.js';
import type { Limits } from '../contract/limits.js';
import type { ScopeRules } from '../contract/profile.js';
import type { FunctionCall } from '../contract/run.js';
import type { LiveInput } from './live-input.js';
import type { Source } from './source-sender.js';

/** What a worker reports when it is parked. */
export interface WorkerAbout {
  features: string[];
  python: string;
  magic: string;
  cgroup: AboutCgroup;
}

/** The cgroups of runs, or why they have none. */
export type AboutCgroup = { version: 'v1' | 'v2'; totalMb: number } | { version: null; reason: string };

/** How a run's processes ended and what they used, measured by the supervisor, which foreign code cannot reach. */
export interface EndFacts {
  killedFor:
    | 'timeout'
    | 'cpu'
    | 'memory'
    | 'total-memory'
    | 'processes'
    | 'disk'
    | 'output'
    | 'cancelled'
    | 'scope'
    | null;
  /** The kernel resource that the run exhausted, if it was not process memory. */
  held?: string | null;
  /** Whether the run's disk was full, or almost, when the run failed. */
  diskFull?: boolean;
  status: number | null;
  signal: number | null;
  wallMs: number;
  cpuMs: number;
  peakBytes: number;
  /** Whether the worker waits for the next job of its session. Its report then has the status. */
  isKept?: boolean;
  /** Of a session: its living checkpoints, and the branches that are not this one. */
  copies?: string[];
  /** Why a session could not be copied. */
  obstacles?: string[];
}

/** Makes a copy of a branch of a session, or replaces the branch by a copy. */
export interface CopyOrder {
  action: 'save' | 'load';
  copy: string;
}

/** A branch of a session: branches take turns in one supervisor. */
export interface BranchPlace {
  name: string;
  /** Its jobs so far. */
  jobs: number;
}

/** The branch that a session begins with. */
export const MAIN_BRANCH = 'main';

export interface Job {
  code: string;
  filename: string;
  /** The package that it is a module of. */
  package?: string;
  /** Where the script lies, in a folder of the pool spec: it runs from there if the run sees that folder. */
  place?: { folder: string; path: string };
  argv: string[];
  stdin: string;
  files: { path: string; base64: string }[];
  /** Files of this machine that follow in pieces; without a path, standard input. */
  sources?: readonly Source[];
  /** Standard input that is read while the run goes on. */
  live?: LiveInput;
  env: Record<string, string>;
  limits: Limits;
  /** Variables of the code, by name. */
  variables: Record<string, unknown>;
  /** The function to call, after the code has run as a module. */
  call?: FunctionCall;
  /** false: the value of the last expression is ignored, as in plain Python. */
  hasValue?: boolean;
  /** "module" or "module as name": imported in advance. */
  imports?: readonly string[];
  /** The scope of the code; without it, the sandbox is the only restriction. */
  rules?: ScopeRules;
  /** Summarize the code before it runs. */
  summarize?: boolean;
  bytecode?: string;
  /** The size of the files that it may leave behind for its caller; 0: none. */
  artifactBytes?: number;
  /** The worker is kept for another job, with what this one leaves behind. */
  session?: boolean;
  /** Load the script and run it up to its command line: its value is what was found (Discovery). */
  inspect?: boolean;
  /** What its command line is called as a tool; the name of the file if not given. */
  toolName?: string;
  /** Every expression that is a statement prints its value, as at Python's prompt. */
  interactive?: boolean;
  /**
   * Only analyse the code: compile it, list its imports, check it against the rules, find its tools, say how it may go on
   * (also in a session), or whether it is whole.
   */
  task?: 'compile' | 'imports' | 'check' | 'discover' | 'complete' | 'read';
  /** For `read`: the code came line by line, so that an empty line ends a block. */
  isTyped?: boolean;
}

export interface RunEnd {
  /** null: the supervisor was lost before it could answer. */
  facts: EndFacts | null;
  /** Set if the machine of the run was lost. */
  lost?: LostRun;
  /** What the worker reported about its run. Used only as a description. */
  report: unknown;
  /** For a call, the bytes whose sizes its report lists. */
  attached?: Buffer;
  /** The summary of the code, made before it ran; null if not requested. */
  summary: CodeSummary | null;
  /** How long it waited for another machine, because the one that it was sent to had no room. */
  waitedMs?: number;
}

/** What is known of a run whose machine was lost. */
export interface LostRun {
  /** Whether its code had begun to run; null if that is not known. */
  started: boolean | null;
  /** One sentence. */
  message: string;
}

/**
 * Displays come after the output that was written before them. A sink that returns a promise gets nothing more, apart from
 * what was read already, until that has resolved: the run then waits for its reader.
 */
export type OutputSink = (stream: 'stdout' | 'stderr' | 'display' | 'file', data: Buffer) => unknown;
