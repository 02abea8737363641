import { Remark } from '@pungi/core/contract';
import type { ScriptInUse, WrappedScript, WrappedScripts } from '@pungi/wrap';
import { z } from 'zod';
import { advertiseArguments, READ_ONLY } from '../tools/advertise.js';
import { answer, reply, type Tool } from '../tools/tool.js';

export const LIST_WRAPPED = 'list_wrapped';

const Arguments = z.strictObject({});

export const WrappedInfo = z.object({
  name: z.string().describe('of the script; unwrap_script takes it'),
  file: z.string().describe('in the tools folder: the script, or its tools file'),
  tools: z.array(z.string()).describe('the names of its tools'),
  hidden: z.array(z.string()).describe('tools that the owner hides'),
  environment: z.string().nullable(),
  profile: z.string().nullable(),
  dependencies: z.array(z.string()).describe('packages that the script declares'),
  missingImports: z.array(z.string()).describe('imports that its environment lacks'),
  remarks: z.array(Remark).describe('what did not become a tool, or only in part, and why'),
  problem: z
    .string()
    .nullable()
    .describe('why the current script is not in use (its previous tools stay), or why its calls cannot run'),
});
export type WrappedInfo = z.infer<typeof WrappedInfo>;

const Listed = z.object({
  scripts: z.array(WrappedInfo),
  problem: z.string().nullable().describe('why the tools folder cannot be read'),
});

export const listWrapped = (): Tool => ({
  name: LIST_WRAPPED,
  title: 'List wrapped scripts',
  description:
    'List the Python scripts that this server offers as tools, and what is wrong with those that it cannot offer.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments),
  answer: (args, call) =>
    answer(Arguments, args, call, async () => {
      const { scripts: wrapped } = call.wrapping;
      await wrapped.current();
      const listed = {
        scripts: wrapped.scripts.map((script) => wrappedInfo(script, wrapped)),
        problem: wrapped.isOffered ? wrapped.problem : null,
      };
      return reply(call, listed, formatList);
    }),
});

export function wrappedInfo(
  { name, origin, inUse, problem }: WrappedScript,
  { tools }: WrappedScripts,
): WrappedInfo {
  const own = [...tools.values()].filter(({ script }) => script === inUse);
  return {
    name,
    file: origin,
    tools: own.map((tool) => tool.name),
    hidden: (inUse?.tools.tools ?? []).filter(({ hidden }) => hidden === true).map((tool) => tool.name),
    environment: inUse?.tools.environment ?? null,
    profile: inUse?.tools.profile ?? null,
    dependencies: inUse?.tools.dependencies ?? [],
    missingImports: inUse?.tools.missingImports ?? [],
    remarks: [...first(inUse === null ? [] : faultRemarks(inUse)), ...first(inUse?.tools.remarks ?? [])],
    problem,
  };
}

/** The rest is only counted: a script may have thousands. */
const MAX_REMARKS = 20;

function faultRemarks({ faults, tools: { tools } }: ScriptInUse): Remark[] {
  const lines = new Map(tools.map(({ name, line }) => [name, line]));
  return faults.map(({ tool, problem, isLeftOut }) => ({
    line: lines.get(tool) ?? 1,
    name: tool,
    reason: problem,
    isSkipped: isLeftOut,
  }));
}

function first(remarks: readonly Remark[]): Remark[] {
  const shown = remarks.slice(0, MAX_REMARKS);
  const left = remarks.slice(MAX_REMARKS);
  if (left.length === 0) return shown;
  const skipped = left.filter(({ isSkipped }) => isSkipped).length;
  const reason = `and ${left.length} more, ${skipped} of them not tools`;
  return [...shown, { line: left[0]!.line, name: left[0]!.name, reason, isSkipped: skipped > 0 }];
}

function formatList({ scripts, problem }: z.infer<typeof Listed>): string {
  const lines = [...(problem === null ? [] : [problem]), ...scripts.map(formatInfo)];
  return lines.length === 0 ? 'No scripts are wrapped.' : lines.join('\n');
}

/** File names can contain anything: JSON keeps them on one line. */
export function formatInfo({
  name,
  tools,
  environment,
  profile,
  missingImports,
  remarks,
  problem,
}: WrappedInfo): string {
  const left = remarks.filter(({ isSkipped }) => isSkipped).length;
  return [
    `${JSON.stringify(name)}: ${tools.join(', ') || 'no tools'}`,
    ...(environment === null ? [] : [`environment "${environment}"`]),
    ...(profile === null ? [] : [`profile "${profile}"`]),
    ...(missingImports.length === 0 ? [] : [`not installed: ${missingImports.join(', ')}`]),
    ...(left === 0 ? [] : [`${left} left out`]),
    ...(problem === null ? [] : [`PROBLEM: ${problem}`]),
  ].join('  ');
}
