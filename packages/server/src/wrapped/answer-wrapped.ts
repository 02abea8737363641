import { randomUUID } from 'node:crypto';
import type { CallToolResult, ContentBlock, TextContent, Tool } from '@modelcontextprotocol/server';
import { PungiError } from '@pungi/core/base';
import type { Outcome, Value } from '@pungi/core/contract';
import { fitSchema, type WrappedTool, withFiles, wrappedCall } from '@pungi/wrap';
import { z } from 'zod';
import { withPictures, withSmallDisplays } from '../displays.js';
import { type Budget, budgetOf, cutReadable, cutText, fitHalf, fitOutcome, halfOf } from '../fit.js';
import { contentBlocks, formatOutcome, type OutputStyle, text } from '../format-outcome.js';
import { ERROR_META, errorMeta, imageRoom, linksTo, replyError, withinImages } from '../reply.js';
import { type StructuredError, shortError } from '../short-outcome.js';
import { answer, type Call, runWithProgress, styleOf } from '../tools/tool.js';

/** The tool's own schema checks the rest. Not z.record, which would drop a name such as "__proto__". */
const Arguments = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/**
 * Answers a call of a wrapped tool. It is a run like any other, with profile, environment, sandbox, queue and
 * audit record.
 */
export function answerWrapped(tool: WrappedTool, args: unknown, call: Call): Promise<CallToolResult> {
  const act: Parameters<typeof answer<typeof Arguments>>[3] = async (given, steps) => {
    try {
      const request = await wrappedCall(tool, given, call.pungi.config.scriptRoots);
      const outcome = await runWithProgress(request, call, steps);
      const { verdict, runId } = outcome;
      if (verdict.kind === 'internal') return replyOwnFault(tool, verdict.message, runId, call);
      return replyWrapped(tool, outcome, call);
    } catch (error) {
      if (error instanceof PungiError) throw error;
      return replyOwnFault(tool, String((error as Error)?.stack ?? error), randomUUID(), call);
    }
  };
  // The tool's own schema limits how many arguments there are.
  return answer(Arguments, args, call, act, { count: () => [] });
}

/**
 * Failures of the script are reported in full; failures of the server go to its log, under an id that the
 * client gets.
 */
function replyOwnFault(tool: WrappedTool, problem: string, id: string, { pungi }: Call): CallToolResult {
  pungi.logger.error('A wrapped tool could not be run', { id, tool: tool.name, problem });
  const message = `The server failed, not the script. Its log has the details under ${id}.`;
  const failed = replyError({ code: 'INTERNAL_ERROR', message, details: { id } }, budgetOf(pungi.config));
  return keepPromise(tool, failed);
}

/**
 * A value that the tool promised stays whole. Printed output, and everything about a failure, is cut to the budget; the rest
 * can be read with read_output.
 */
function replyWrapped(tool: WrappedTool, outcome: Outcome, call: Call): CallToolResult {
  const { pungi, caller, hasLinks } = call;
  const budget = budgetOf(pungi.config);
  const style = styleOf(outcome, pungi.profiles);
  let shownStdout = '';
  const format = (fitting: Outcome) => {
    shownStdout = fitting.stdout.text;
    return formatWrapped(tool, fitting, { style, budget });
  };
  const pictured = withinImages(withSmallDisplays(outcome), budget);
  const withDisplays = ({ content, ...reply }: CallToolResult): CallToolResult => ({
    ...reply,
    content: withPictures(content, outcome, shownStdout, imageRoom(pictured, budget)),
  });
  if (tool.spec.kind === 'function' && outcome.verdict.kind === 'ok') {
    const whole = fitOutcome(pictured, format);
    const half = halfOf(budget);
    const content = whole.content.map((block) =>
      block.type === 'text' ? text(cutText(block.text, half)) : block,
    );
    return withDisplays({ ...whole, content });
  }
  const { shown, isCut } = fitHalf(
    pictured,
    budget.chars,
    (fitting) => fitOutcome(fitting, format),
    cutReadable,
  );
  const links = isCut && pungi.outputs.keep(caller, outcome) && hasLinks ? linksTo(outcome) : [];
  const reply = withDisplays(shown);
  return { ...reply, content: [...reply.content, ...links] };
}

/** How to reply: as the profile says, within the budget. */
interface How {
  style: OutputStyle;
  budget: Budget;
}

/** Longest repr, in characters, of a value that has no JSON. */
const LONGEST_REPR = 1024;
/** Longest printed text, in characters, next to a value. */
const LONGEST_PRINTED = 8 * 1024;

/**
 * Formats a run of a wrapped tool as the result of its call: the value, and separately what the script
 * printed.
 */
function formatWrapped(tool: WrappedTool, outcome: Outcome, { style, budget }: How): CallToolResult {
  const { verdict, runId } = outcome;
  const result =
    verdict.kind === 'invalid'
      ? formatInvalid(tool, verdict, budget)
      : tool.spec.kind === 'function'
        ? formatFunction(tool, outcome, style)
        : formatScript(tool, outcome, style);
  return { ...result, _meta: { ...errorMeta(outcome, budget), ...result._meta, 'pungi/runId': runId } };
}

/**
 * Formats one sentence per invalid argument. A problem that is not about an argument keeps its own message.
 */
function formatInvalid(
  tool: WrappedTool,
  verdict: Extract<Outcome['verdict'], { kind: 'invalid' }>,
  budget: Budget,
): CallToolResult {
  const { code, message, issues } = verdict;
  const isOfArguments = issues.some((issue) => issue !== message);
  const failed = isOfArguments
    ? { code, message: 'The arguments are not valid.', details: { issues } }
    : { code, message, details: {} };
  return keepPromise(tool, replyError(failed, budget));
}

/** A failure as data. A client refuses what does not fit the output schema of the tool: there, only `_meta` has it. */
function keepPromise(tool: WrappedTool, { structuredContent, ...result }: CallToolResult): CallToolResult {
  const promised = promisedSchema(tool);
  const fits = promised === null || fitSchema(promised, structuredContent as object).issues.length === 0;
  return fits ? { ...result, structuredContent: structuredContent as object } : result;
}

function formatFunction(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  if (outcome.verdict.kind !== 'ok') return formatFailed(tool, outcome, style);
  const { value } = outcome;
  const structured = structuredValue(tool, value);
  const broken = brokenPromise(tool, structured, value);
  const content = [
    ...formatBefore(outcome),
    ...(broken === null ? formatValue(value) : [broken, ...formatShort(value)]),
    ...contentBlocks(outcome),
    ...formatPrinted(outcome, style),
  ];
  if (broken !== null) return keepPromise(tool, { content, isError: true, ...invalidResult(broken) });
  return { content, ...(structured !== undefined && { structuredContent: structured }) };
}

function formatFailed(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  const { verdict, stderr } = outcome;
  if (verdict.kind === 'ok') return { content: [] };
  const structuredContent = { error: shortError(verdict, stderr.text, style) };
  return keepPromise(tool, { content: formatOutcome(outcome, style), structuredContent, isError: true });
}

/** The error of a script that ran and returned something else than its tool promises. */
function invalidResult({ text: message }: TextContent) {
  const error: StructuredError = { code: 'INVALID_RESULT', message };
  return { structuredContent: { error }, _meta: { [ERROR_META]: { ...error, details: {} } } };
}

/**
 * Returns an error for a value that violates the output schema, because clients would refuse the whole
 * result; null if it fits.
 */
function brokenPromise(
  tool: WrappedTool,
  structured: object | undefined,
  value: Value | null = null,
): TextContent | null {
  const promised = promisedSchema(tool);
  if (promised === null) return null;
  const issues =
    structured === undefined
      ? [`there is no value as JSON: ${value === null ? 'it returned None' : whyNoJson(value)}`]
      : fitSchema(promised, structured).issues;
  if (issues.length === 0) return null;
  const lines = [
    `${tool.name} ran, but its result does not match its outputSchema:`,
    ...issues.map((issue) => `- ${issue}`),
  ];
  return text(lines.join('\n'));
}

/** Without a note there was JSON, which was removed to make the reply fit one message. */
const whyNoJson = ({ note, content }: Value) =>
  note ?? (content?.length ? 'it is a picture or other content' : 'it is too large for one message.');

/** A value that is not an object, or whose spec asks for it, goes below "result". */
function structuredValue({ spec }: WrappedTool, value: Value | null): Record<string, unknown> | undefined {
  const json = value === null ? null : value.json;
  if (json === undefined) return undefined;
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const isWrapped = spec.kind === 'function' && spec.wrapsResult;
  return isObject && !isWrapped ? (json as Record<string, unknown>) : { result: json };
}

function formatValue(value: Value | null): ContentBlock[] {
  if (value === null || value.json === null) return [text('Returned None.')];
  const note = value.note === undefined ? [] : [text(`Note: ${value.note}`)];
  if (value.json === undefined) {
    // The reason comes first: the beginning of a large value says little.
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

/**
 * Formats the output in the profile's style. The value matters more, so long output is cut to its head and
 * tail.
 */
function formatPrinted({ stdout, stderr }: Outcome, style: OutputStyle): ContentBlock[] {
  if (style === 'value') return [];
  return [
    ...(stdout.text === '' ? [] : [text(`stdout:\n${cutText(stdout.text, LONGEST_PRINTED)}`)]),
    ...(stderr.text === '' || style === 'brief'
      ? []
      : [text(`stderr:\n${cutText(stderr.text, LONGEST_PRINTED)}`)]),
  ];
}

function formatScript(tool: WrappedTool, outcome: Outcome, style: OutputStyle): CallToolResult {
  const exitCode = exitCodeOf(outcome);
  if (exitCode === null) return formatFailed(tool, outcome, style);
  const { stdout, stderr, verdict } = outcome;
  const traceback = verdict.kind === 'python-error' ? verdict.exception.traceback : '';
  const isShown = stderr.text.includes(traceback.trim());
  const json = parsedOutput(stdout);
  const structured = {
    exitCode,
    stdout: stdout.text,
    stderr: isShown ? stderr.text : `${stderr.text}${traceback}`,
    ...(json !== undefined && { json }),
  };
  if (verdict.kind !== 'ok') {
    const error = { code: verdict.code, message: verdict.message };
    const structuredContent = { ...structured, error };
    return keepPromise(tool, { content: formatOutcome(outcome, 'full'), structuredContent, isError: true });
  }
  const printed = [
    ...(stdout.text === '' ? [] : [text(stdout.text)]),
    ...(stderr.text === '' || style !== 'full' ? [] : [text(`stderr:\n${stderr.text}`)]),
  ];
  const broken = brokenPromise(tool, structured);
  const content = [
    ...formatBefore(outcome),
    ...(broken === null ? [] : [broken]),
    ...(printed.length > 0 ? printed : [text('The script succeeded without output.')]),
  ];
  return broken === null
    ? { content, structuredContent: structured }
    : keepPromise(tool, { content, isError: true, ...invalidResult(broken) });
}

/** Returns the exit code as a shell would; null if the script was stopped. */
function exitCodeOf({ verdict }: Outcome): number | null {
  if (verdict.kind === 'ok') return 0;
  if (verdict.kind === 'exited') return verdict.status;
  return verdict.kind === 'python-error' ? 1 : null;
}

/** Parses the output if all of it is JSON. */
function parsedOutput({ text: printed, truncated }: Outcome['stdout']): unknown {
  if (truncated || printed.trim() === '') return undefined;
  try {
    return JSON.parse(printed) as unknown;
  } catch {
    return undefined;
  }
}

const known = new WeakMap<ReadonlyMap<string, WrappedTool>, Tool[]>();

/** Lists wrapped tools as their tools files describe them. The list is built once per state of the folder. */
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
    inputSchema: withFiles(inputSchema) as Tool['inputSchema'],
    ...(outputSchema !== null && { outputSchema: outputSchema as Tool['outputSchema'] }),
    ...(annotations !== undefined && { annotations: annotations as NonNullable<Tool['annotations']> }),
  };
}

/** Drops an output schema that clients could not use. */
function promisedSchema({ spec, script }: Pick<WrappedTool, 'spec' | 'script'>) {
  return script.faults.some(({ tool }) => tool === spec.name) ? null : spec.outputSchema;
}
