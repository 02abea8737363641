import { randomUUID } from 'node:crypto';
import type { CallToolResult, ContentBlock, TextContent, Tool } from '@modelcontextprotocol/server';
import { PungiError } from '@pungi/core/base';
import type { Outcome, Value } from '@pungi/core/contract';
import { fitSchema, type WrappedTool, wrappedCall } from '@pungi/wrap';
import { z } from 'zod';
import { cutText, fitOutcome } from '../fit.js';
import { contentBlocks, formatIssues, formatOutcome, type OutputStyle, text } from '../format-outcome.js';
import { answer, type Call, runHeard, styleOf } from '../tools/tool.js';

/** What fits a tool is said by its own schema. Not a record, which would drop a name such as "__proto__". */
const Arguments = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** A call of a wrapped tool is a run like any other: its profile, its environment, the sandbox, the queue and the record hold. */
export function answerWrapped(tool: WrappedTool, args: unknown, call: Call): Promise<CallToolResult> {
  const act: Parameters<typeof answer<typeof Arguments>>[3] = async (given, steps) => {
    try {
      const outcome = await runHeard(wrappedCall(tool, given), call, steps);
      const { verdict, runId } = outcome;
      if (verdict.kind === 'internal') return replyOwnFault(tool, verdict.message, runId, call);
      const style = styleOf(outcome, call.pungi.profiles);
      return fitOutcome(outcome, (fitting) => formatWrapped(tool, fitting, style));
    } catch (error) {
      if (error instanceof PungiError) throw error;
      return replyOwnFault(tool, String((error as Error)?.stack ?? error), randomUUID(), call);
    }
  };
  // How many of what it takes is for its schema to say.
  return answer(Arguments, args, call, act, () => []);
}

/** What the script did is told in full; what went wrong in the server is told to its log, where the number finds it. */
function replyOwnFault({ name }: WrappedTool, problem: string, id: string, { pungi }: Call): CallToolResult {
  pungi.logger.error('A wrapped tool could not be run', { id, tool: name, problem });
  const words = `INTERNAL_ERROR: The server failed at this, not the script. Its log says more under ${id}.`;
  return { content: [text(words)], isError: true };
}

/** Characters of a value that clients cannot get as it is. */
const LONGEST_REPR = 1024;
/** Characters of what was printed beside a value. */
const LONGEST_PRINTED = 8 * 1024;

/** A run of a wrapped tool as the result of its call: the value, and apart from it what the script printed. */
function formatWrapped(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  const _meta = { 'pungi/runId': outcome.runId };
  if (outcome.verdict.kind === 'invalid')
    return { content: [text(formatInvalid(outcome.verdict))], isError: true, _meta };
  const worded =
    tool.spec.kind === 'function' ? formatFunction(tool, outcome, style) : formatScript(tool, outcome, style);
  return { ...worded, _meta };
}

/** Nothing was run: a sentence for each argument that does not fit. What is no fault of an argument is said as it is. */
function formatInvalid({ code, message, issues }: Extract<Outcome['verdict'], { kind: 'invalid' }>): string {
  const isOfArguments = issues.some((issue) => issue !== message);
  if (!isOfArguments) return `${code}: ${message}`;
  return [`${code}: The arguments do not fit the tool.`, ...formatIssues(issues)].join('\n');
}

function formatFunction(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  if (outcome.verdict.kind !== 'ok') return { content: formatOutcome(outcome, style), isError: true };
  const { value } = outcome;
  const structured = structuredValue(tool, value);
  const broken = brokenPromise(tool, structured, value);
  const content = [
    ...formatBefore(outcome),
    ...(broken === null ? formatValue(value) : [broken, ...formatShort(value)]),
    ...contentBlocks(outcome),
    ...formatPrinted(outcome, style),
  ];
  if (broken !== null) return { content, isError: true };
  return { content, ...(structured !== undefined && { structuredContent: structured }) };
}

/** What does not fit what was promised is an error: clients would refuse the whole result. Null: it fits. */
function brokenPromise(
  tool: WrappedTool,
  structured: object | undefined,
  value: Value | null = null,
): TextContent | null {
  const promised = promisedSchema(tool);
  if (promised === null) return null;
  const issues =
    structured === undefined
      ? [`there is no value as JSON: ${value === null ? 'nothing came' : whyNoJson(value)}`]
      : fitSchema(promised, structured).issues;
  if (issues.length === 0) return null;
  const lines = [
    `${tool.name} ended, but what it gave back is not what it promises (its outputSchema):`,
    ...issues.map((issue) => `- ${issue}`),
  ];
  return text(lines.join('\n'));
}

/** Where there is no note, there was JSON before the reply was cut to the size of a message. */
const whyNoJson = ({ note, content }: Value) =>
  note ?? (content?.length ? 'it is a picture or another content' : 'it is too large for one message.');

/** A value that is no object, or that is said to be put there, is below "result". */
function structuredValue({ spec }: WrappedTool, value: Value | null): Record<string, unknown> | undefined {
  const json = value === null ? null : value.json;
  if (json === undefined) return undefined;
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const isWrapped = spec.kind === 'function' && spec.wrapsResult;
  return isObject && !isWrapped ? (json as Record<string, unknown>) : { result: json };
}

function formatValue(value: Value | null): ContentBlock[] {
  if (value === null || value.json === null) return [text('It gave back nothing (None).')];
  const note = value.note === undefined ? [] : [text(`Note: ${value.note}`)];
  if (value.json === undefined) {
    // The reason first: what it begins with tells little of what is too large.
    return value.content?.length ? note : [text(`Note: ${whyNoJson(value)}`), ...formatShort(value)];
  }
  return [text(typeof value.json === 'string' ? value.json : JSON.stringify(value.json)), ...note];
}

const formatShort = (value: Value | null): ContentBlock[] =>
  value === null || value.content?.length ? [] : [text(cutText(value.repr, LONGEST_REPR))];

function formatBefore({ disclosure, cached }: Outcome): ContentBlock[] {
  return [
    ...(disclosure === null ? [] : [text(disclosure.text)]),
    ...(cached === null
      ? []
      : [text(`Not run again: this is the outcome of the same call from ${cached.at}.`)]),
  ];
}

/** As the profile likes it. What counts is the value: of much text beside it, the head and the tail. */
function formatPrinted({ stdout, stderr }: Outcome, style: OutputStyle): ContentBlock[] {
  if (style === 'value') return [];
  return [
    ...(stdout.text === '' ? [] : [text(`It printed:\n${cutText(stdout.text, LONGEST_PRINTED)}`)]),
    ...(stderr.text === '' || style === 'brief'
      ? []
      : [text(`stderr:\n${cutText(stderr.text, LONGEST_PRINTED)}`)]),
  ];
}

function formatScript(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  const exitCode = exitCodeOf(outcome);
  if (exitCode === null) return { content: formatOutcome(outcome, style), isError: true };
  const { stdout, stderr, verdict } = outcome;
  const traceback = verdict.kind === 'python-error' ? verdict.exception.traceback : '';
  const isSaid = stderr.text.includes(traceback.trim());
  const json = parsedOutput(stdout);
  const structured = {
    exitCode,
    stdout: stdout.text,
    stderr: isSaid ? stderr.text : `${stderr.text}${traceback}`,
    ...(json !== undefined && { json }),
  };
  if (exitCode !== 0)
    return { content: formatOutcome(outcome, 'full'), structuredContent: structured, isError: true };
  const printed = [
    ...(stdout.text === '' ? [] : [text(stdout.text)]),
    ...(stderr.text === '' || style !== 'full' ? [] : [text(`stderr:\n${stderr.text}`)]),
  ];
  const broken = brokenPromise(tool, structured);
  const content = [
    ...formatBefore(outcome),
    ...(broken === null ? [] : [broken]),
    ...(printed.length > 0 ? printed : [text('It ended well, without output.')]),
  ];
  return broken === null ? { content, structuredContent: structured } : { content, isError: true };
}

/** As a shell would see it; null: the script did not come to its own end. */
function exitCodeOf({ verdict }: Outcome): number | null {
  if (verdict.kind === 'ok') return 0;
  if (verdict.kind === 'exited') return verdict.status;
  return verdict.kind === 'python-error' ? 1 : null;
}

/** What it printed, where that is JSON as a whole. */
function parsedOutput({ text: printed, truncated }: Outcome['stdout']): unknown {
  if (truncated || printed.trim() === '') return undefined;
  try {
    return JSON.parse(printed) as unknown;
  } catch {
    return undefined;
  }
}

const known = new WeakMap<ReadonlyMap<string, WrappedTool>, Tool[]>();

/** What clients are told of wrapped tools, as their tools files say it. Made once for each state of the folder. */
export function advertisedTools(tools: ReadonlyMap<string, WrappedTool>): Tool[] {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const advertised = [...tools.values()].map(advertise);
  known.set(tools, advertised);
  return advertised;
}

function advertise({ name, spec, script }: WrappedTool): Tool {
  const { title, description, inputSchema, annotations } = spec;
  const outputSchema = promisedSchema({ spec, script });
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    ...(outputSchema !== null && { outputSchema: outputSchema as Tool['outputSchema'] }),
    ...(annotations !== undefined && { annotations: annotations as NonNullable<Tool['annotations']> }),
  };
}

/** A schema that no client could use is not promised. */
function promisedSchema({ spec, script }: Pick<WrappedTool, 'spec' | 'script'>) {
  return script.faults.some(({ tool }) => tool === spec.name) ? null : spec.outputSchema;
}
