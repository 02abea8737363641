import { z } from 'zod';
import { RequestedLimits } from './limits.js';

/** Operations that a profile can deny besides imports and builtins. This is scope, not security. */
export const OPERATIONS = ['file', 'process', 'network', 'introspection'] as const;
export const Operation = z.enum(OPERATIONS);

export const OUTPUT_STYLES = ['full', 'brief', 'value'] as const;

const module = z
  .string()
  .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/, 'must be a module, such as "pandas" or "os.path"');
const identifier = z
  .string()
  .regex(/^(?!__)[A-Za-z_]\w*$/, 'must be a name of Python without two underscores at its start');

export const WorkspaceFolder = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be a plain folder name')
    .describe('the folder appears as data/NAME in the work folder of a run'),
  path: z.string().min(1).describe('the folder on the host; relative to the file that names it'),
});
export type WorkspaceFolder = z.infer<typeof WorkspaceFolder>;

/** A profile as written in a file. An omitted field is inherited, or the widest. */
export const ProfileDefinition = z.strictObject({
  description: z.string().optional(),
  extends: z.string().optional().describe('the profile that this one inherits from'),
  environment: z.string().optional().describe('the environment of its runs'),
  packages: z
    .array(z.string())
    .optional()
    .describe('without an environment: packages for one that is created at the first run'),
  preload: z.array(module).optional().describe('modules imported once, before any run'),
  limits: RequestedLimits.optional(),
  allowedImports: z.array(module).optional().describe('modules that code may import; all if not set'),
  blockedImports: z.array(module).optional(),
  blockedBuiltins: z.array(z.string().regex(/^\w+$/)).optional(),
  blockedOperations: z.array(Operation).optional(),
  scopeMessage: z.string().optional().describe('the sentence for code outside of the scope'),
  templateVars: z.record(identifier, z.json()).optional().describe('variables that the code sees'),
  contextVariable: identifier.optional().describe('a second variable name for `context`'),
  defaultImports: z
    .array(z.string().regex(/^[A-Za-z_][\w.]*( as [A-Za-z_]\w*)?$/, 'must be "module" or "module as name"'))
    .optional()
    .describe('modules that the code need not import'),
  outputStyle: z.enum(OUTPUT_STYLES).optional().describe('what a reply shows of the output'),
  network: z
    .union([z.literal('none'), z.strictObject({ allow: z.array(z.string().min(1)) })])
    .optional()
    .describe('none, or the hosts that HTTP and HTTPS may reach'),
  workspace: z.array(WorkspaceFolder).optional().describe('folders with data, which runs can read'),
  cacheTtl: z.number().int().min(0).optional().describe('seconds for which an outcome is kept; 0: never'),
  deterministic: z.boolean().optional().describe('false: the same code may end differently; never cached'),
  disclosure: z.boolean().optional().describe('outcomes include a disclosure'),
  focus: z.string().optional().describe('the subject of a persona'),
});
export type ProfileDefinition = z.infer<typeof ProfileDefinition>;

/** A profile with everything that it inherits. */
export interface Profile {
  name: string;
  description: string;
  /** Its name first, then the profiles that it extends. */
  lineage: readonly string[];
  /** "built-in", or the file. */
  origin: string;
  environment: string | null;
  packages: readonly string[];
  preload: readonly string[];
  limits: RequestedLimits;
  /** null: everything that is not blocked. */
  allowedImports: readonly string[] | null;
  blockedImports: readonly string[];
  blockedBuiltins: readonly string[];
  blockedOperations: readonly z.infer<typeof Operation>[];
  scopeMessage: string | null;
  templateVars: Readonly<Record<string, unknown>>;
  contextVariable: string | null;
  defaultImports: readonly string[];
  outputStyle: (typeof OUTPUT_STYLES)[number];
  /** Hosts that may be reached; empty for none. */
  allowedHosts: readonly string[];
  workspace: readonly WorkspaceFolder[];
  /** Seconds; 0 disables the cache. */
  cacheTtl: number;
  deterministic: boolean;
  disclosure: boolean;
  focus: string | null;
}

/** The part of a profile that the worker enforces. */
export interface ScopeRules {
  profile: string;
  /** The message for code outside of the scope, before line and reason. */
  message: string | null;
  allowedImports: readonly string[] | null;
  blockedImports: readonly string[];
  blockedBuiltins: readonly string[];
  blockedOperations: readonly string[];
  /** "module" or "module as name": imported by the profile itself. */
  defaultImports: readonly string[];
}
