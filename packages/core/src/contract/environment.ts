import { z } from 'zod';
import type { ErrorCode } from '../base/errors.js';
import type { Caller } from './caller.js';

/** An environment as clients and people see it. */
export const EnvironmentInfo = z.object({
  venvName: z.string(),
  description: z.string(),
  state: z
    .enum(['ready', 'preparing', 'damaged', 'unreadable'])
    .describe(
      'preparing: it is being made; damaged: its folder was changed from outside; unreadable: it belongs to another user or a newer version',
    ),
  isDefault: z.boolean().describe('runs that name no environment use it'),
  isInline: z.boolean().describe('made for the inline dependencies of scripts, and cleaned when unused'),
  pythonVersion: z.string().describe('e.g. "3.12.1"'),
  path: z
    .string()
    .nullable()
    .describe(
      'the folder of the virtual environment; null: nothing was installed into it yet, or a cluster has it',
    ),
  requested: z.array(z.string()).describe('what was asked for, as requirements'),
  packageCount: z.number().int().describe('packages installed, with what they depend on'),
  sizeMb: z.number().describe('size of its files'),
  sharedMb: z
    .number()
    .describe('the part of it that is shared with other environments or the cache by hard links'),
  created: z.string().nullable().describe('ISO 8601'),
  lastUsed: z.string().nullable().describe('ISO 8601; to the minute'),
  isWarm: z.boolean().describe('workers of it are parked in this server'),
  warmOn: z
    .array(z.string())
    .optional()
    .describe('in a cluster: the workers that have it; others build it when they are the first to need it'),
});
export type EnvironmentInfo = z.infer<typeof EnvironmentInfo>;

export const PackageInfo = z.object({ name: z.string(), version: z.string() });
export type PackageInfo = z.infer<typeof PackageInfo>;

export const PackageResult = z.object({
  package: z.string().describe('the requirement as it was asked for'),
  status: z.enum(['installed', 'unchanged', 'removed', 'failed', 'skipped']),
  version: z.string().nullable(),
  why: z.string().nullable().describe("the resolver's explanation, if it failed"),
});
export type PackageResult = z.infer<typeof PackageResult>;

/** The result of an install or removal. A failure changed nothing. */
export const PackageReport = z.object({
  venvName: z.string(),
  packages: z.array(PackageResult).describe('one for each that was asked for'),
  added: z.array(PackageInfo).describe('everything new, dependencies included'),
  removed: z.array(PackageInfo),
  tool: z.string().describe('what did the work, e.g. "uv 0.13.7"'),
  tookMs: z.number(),
});
export type PackageReport = z.infer<typeof PackageReport>;

export const CleanReport = z.object({
  removed: z
    .array(z.object({ venvName: z.string(), reason: z.string(), freedMb: z.number() }))
    .describe('what was removed, or would be in a dry run'),
  dryRun: z.boolean(),
});
export type CleanReport = z.infer<typeof CleanReport>;

/** `share` is the progress from 0 to 1, if known. */
export type OnStep = (message: string, share?: number) => void;

/** Options of long operations that cannot be expressed as data. */
export interface StepOptions {
  signal?: AbortSignal;
  /** Called with a sentence for every step: waiting for a lock, resolving, downloading, … */
  onStep?: OnStep;
  /** The caller, for the audit trail. */
  caller?: Partial<Caller>;
}

/** The content of an environment: the text of its lock file and its hash. */
export interface EnvironmentLock {
  sha256: string;
  text: string;
}

/** An environment was created, removed or described. */
export interface EnvironmentChange {
  /** provide: created for a run; clean: removed because it was damaged or unused. */
  action: 'create' | 'delete' | 'clone' | 'import' | 'describe' | 'clean' | 'provide';
  environment: string;
  /** Null if the environment was damaged. */
  lock: EnvironmentLock | null;
  caller: Caller;
  details: Record<string, string | number | string[] | PackageInfo[]>;
}

/** Packages were installed or removed, or the attempt failed. */
export interface PackageChange {
  action: 'install' | 'uninstall';
  environment: string;
  requested: string[];
  added: PackageInfo[];
  removed: PackageInfo[];
  /** Null if it failed. */
  lock: EnvironmentLock | null;
  /** Why nothing changed, or null. */
  error: ErrorCode | null;
  caller: Caller;
}

export type EnvironmentEvent = EnvironmentChange | PackageChange;
