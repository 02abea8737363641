import { specTypeSchemas, UriTemplate } from '@modelcontextprotocol/client';
import { faultsOf } from '@pungi/core/base';
import type { Failure } from '@pungi/core/contract';
import type { z } from 'zod';
import { type Answer, isErrorResult, isMap, isTooDeep, type JsonMap, MAX_DEPTH } from '../judge/answer.js';
import { judgeForeignSchema } from '../judge/schema.js';
import { cut } from '../judge/shown.js';
import type { Kind } from '../spec/raw.js';
import type { Connection, RequestSettings } from './connection.js';

export interface CallRequest {
  method: 'tools/call' | 'resources/read' | 'prompts/get' | 'completion/complete';
  params: JsonMap;
}

/** The request that calls a tool, reads a resource or gets a prompt. */
export function requestFor(kind: Kind, target: string, input: unknown): CallRequest {
  const given = isMap(input) ? input : {};
  if (kind === 'tool') return { method: 'tools/call', params: { name: target, arguments: input } };
  if (kind === 'resource') return { method: 'resources/read', params: { uri: uriOf(target, given) } };
  return { method: 'prompts/get', params: { name: target, arguments: textsIn(given) } };
}

/** The request that completes an argument of a prompt or of a template. */
export function completionFor(kind: Kind, target: string, input: unknown, argument: string): CallRequest {
  const { [argument]: value = '', ...others } = textsIn(isMap(input) ? input : {});
  const ref =
    kind === 'prompt' ? { type: 'ref/prompt', name: target } : { type: 'ref/resource', uri: target };
  const context = Object.keys(others).length === 0 ? {} : { context: { arguments: others } };
  return { method: 'completion/complete', params: { ref, argument: { name: argument, value }, ...context } };
}

/** Arguments of prompts are always texts. */
const textsIn = (input: JsonMap): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

function uriOf(template: string, input: JsonMap): string {
  if (typeof input['uri'] === 'string' && !template.includes('{uri}')) return input['uri'];
  if (!UriTemplate.isTemplate(template)) return template;
  const values = Object.entries(input).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(String) : String(value),
  ]);
  return new UriTemplate(template).expand(Object.fromEntries(values) as Record<string, string | string[]>);
}

export interface Called {
  answer: Answer;
  durationMs: number;
  /** Problems of the answer that do not depend on the test. */
  failures: Failure[];
}

const OF = {
  'tools/call': 'tool',
  'resources/read': 'resource',
  'prompts/get': 'prompt',
  // Treated like a prompt: all of it is searched.
  'completion/complete': 'prompt',
} as const;
const SHAPES = {
  'tools/call': specTypeSchemas.CallToolResult,
  'resources/read': specTypeSchemas.ReadResourceResult,
  'prompts/get': specTypeSchemas.GetPromptResult,
  'completion/complete': specTypeSchemas.CompleteResult,
};

/** Makes a call; throws a ServerFault if there is no answer. */
export async function call(
  connection: Connection,
  { method, params }: CallRequest,
  settings: RequestSettings,
): Promise<Called> {
  // Fetched before the measured time starts: it is requested once, as by every client.
  const tools = method === 'tools/call' ? await connection.tools(settings.timeoutMs) : undefined;
  const begun = performance.now();
  const given = await connection.request(method, params, settings);
  const durationMs = performance.now() - begun;
  if (!('raw' in given)) return { answer: given, durationMs, failures: [] };
  const answer: Answer = { kind: 'result', of: OF[method], result: given.raw };
  const failures = shapeFailures(method, given.raw);
  if (failures.length === 0 && tools !== undefined)
    failures.push(...ownSchemaFailures(answer, tools.get(String(params['name']))?.outputSchema));
  return { answer, durationMs, failures };
}

function shapeFailures(method: CallRequest['method'], result: unknown): Failure[] {
  const { issues = [] } = SHAPES[method]['~standard'].validate(result);
  const [first] = (issues as z.core.$ZodIssue[]).flatMap((issue) => faultsOf(issue));
  if (first === undefined) return [];
  const where = first.path.length === 0 ? 'the result' : first.path.map(String).join('.');
  const message = `The answer is not a valid result of ${method}: ${where}: ${cut(first.reason, 300)}`;
  return [{ kind: 'protocol', message }];
}

/** A tool that advertises an output schema must return structured content that matches it. */
function ownSchemaFailures(answer: Answer & { kind: 'result' }, schema: unknown): Failure[] {
  if (!isMap(schema) || isErrorResult(answer)) return [];
  const { structuredContent } = answer.result as JsonMap;
  if (structuredContent === undefined) {
    const message = 'The tool advertises an output schema but returned no structured content.';
    return [{ kind: 'schema', message }];
  }
  if (isTooDeep(structuredContent)) {
    const message = `The answer is nested more than ${MAX_DEPTH} levels deep, so it was not checked.`;
    return [{ kind: 'schema', message }];
  }
  return judgeForeignSchema(
    { from: 'the output schema that the tool advertises', schema },
    structuredContent,
  );
}
