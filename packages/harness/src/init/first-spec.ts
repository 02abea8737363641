import { stringify } from 'yaml';
import { exampleInput } from '../inputs/example.js';
import { type Answer, isErrorResult, isMap, itemsOf, type JsonMap, textOf } from '../judge/answer.js';
import { pathText } from '../judge/select.js';
import { cut, shown, typeOf } from '../judge/shown.js';
import { call, requestFor } from '../run/call.js';
import type { Connection } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';
import type { Kind } from '../spec/raw.js';
import { escapeReferences } from '../spec/reference.js';
import { type AskSettings, isReadOnly, nameOf, type Offer, textIn } from './offer.js';

/** Which tools are called, so that the tests can expect their answers. */
type Calls = 'read-only' | 'all' | 'none';

interface FirstSpec {
  specification: JsonMap;
  /** Tests that run, and tests that need review first. */
  tests: number;
  skipped: number;
  leftOut: number;
}

/** The limit per list; nobody starts from more. */
const MOST = 50;
const LONGEST_TEMPLATE = 2000;
const UNTRIED = 'the input was generated from the schema and never tried: review it, then remove this line';

/** Writes a specification that passes: every call was made, except those that might change something. */
export class FirstSpecWriter {
  readonly #connection: Connection;
  readonly #settings: AskSettings;
  readonly #calls: Calls;
  #tests = 0;
  #skipped = 0;

  constructor(connection: Connection, settings: AskSettings, calls: Calls) {
    this.#connection = connection;
    this.#settings = settings;
    this.#calls = calls;
  }

  async write(offer: Offer, server: JsonMap): Promise<FirstSpec> {
    const { tools, resources, templates, prompts, capabilities } = offer;
    const lists = [tools, resources, templates, prompts];
    const specification = {
      name: verbatim(offer.server.name),
      capabilities: Object.fromEntries(
        ['tools', 'resources', 'prompts', 'logging', 'completions']
          .filter((name) => capabilities[name] !== undefined)
          .map((name) => [name, true]),
      ),
      server,
      ...(await this.#group('tools', tools, (tool) => this.#tool(tool))),
      ...(await this.#group('resources', [...resources, ...templates], (one) => this.#resource(one))),
      ...(await this.#group('prompts', prompts, (prompt) => this.#prompt(prompt))),
    };
    const leftOut = lists.reduce((sum, list) => sum + Math.max(0, list.length - MOST), 0);
    return { specification, tests: this.#tests, skipped: this.#skipped, leftOut };
  }

  async #group(key: string, items: JsonMap[], write: (one: JsonMap) => Promise<JsonMap>): Promise<JsonMap> {
    const written: JsonMap[] = [];
    for (const item of items.slice(0, MOST)) written.push(await write(item));
    return written.length === 0 ? {} : { [key]: written };
  }

  async #tool(tool: JsonMap): Promise<JsonMap> {
    const name = nameOf(tool);
    const { inputSchema } = tool;
    const input = exampleInput(inputSchema);
    const mayCall = this.#calls === 'all' || (this.#calls === 'read-only' && isReadOnly(tool));
    const tests = [await this.#test('tool', name, 'answers', input, mayCall)];
    const required = input === undefined ? [] : Object.keys(input);
    if (mayCall && required.length > 0) tests.push(...(await this.#refusal(name)));
    return { name: verbatim(name), tests };
  }

  /** Adds a test that an empty input is refused, if the server does so. */
  async #refusal(name: string): Promise<JsonMap[]> {
    const answer = await this.#ask('tool', name, {});
    if (!isError(answer)) return [];
    this.#tests += 1;
    return [{ name: 'refuses an input without anything', input: {}, expected: { error: true } }];
  }

  async #resource(resource: JsonMap): Promise<JsonMap> {
    const template = textIn(resource, 'uriTemplate');
    const uri = textIn(resource, 'uri');
    const isFixed = uri !== '';
    const mayCall = isFixed && this.#calls !== 'none';
    const names = [...template.slice(0, LONGEST_TEMPLATE).matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(
      (match) => match[1]!.split(','),
    );
    const input = isFixed
      ? {}
      : Object.fromEntries(names.map((name) => [name.replace(/[*:].*$/, ''), 'text']));
    return {
      uri_template: verbatim(isFixed ? uri : template),
      ...(nameOf(resource) === '' ? {} : { name: verbatim(nameOf(resource)) }),
      tests: [await this.#test('resource', isFixed ? uri : template, 'can be read', input, mayCall)],
    };
  }

  async #prompt(prompt: JsonMap): Promise<JsonMap> {
    const required = itemsOf(prompt['arguments'])
      .filter((one) => one['required'] === true)
      .map(nameOf);
    const input = Object.fromEntries(required.map((name) => [name, 'text']));
    const test = await this.#test('prompt', nameOf(prompt), 'can be fetched', input, this.#calls !== 'none');
    return { name: verbatim(nameOf(prompt)), tests: [test] };
  }

  async #test(
    kind: Kind,
    target: string,
    name: string,
    input: JsonMap | undefined,
    mayCall: boolean,
  ): Promise<JsonMap> {
    const written = {
      name,
      ...(input === undefined || Object.keys(input).length === 0 ? {} : { input: verbatim(input) }),
    };
    const skipped = (skip: string): JsonMap => {
      this.#skipped += 1;
      return { ...written, skip: verbatim(skip) };
    };
    if (input === undefined)
      return skipped('no valid input was found for the schema: write one, then remove this line');
    if (!mayCall) return skipped(UNTRIED);
    const answer = await this.#ask(kind, target, input);
    if (isError(answer)) return skipped(`this input returns an error: ${cut(textOf(answer), 200)}`);
    this.#tests += 1;
    const expected = shapeOf(answer);
    return { ...written, ...(Object.keys(expected).length === 0 ? {} : { expected }) };
  }

  async #ask(kind: Kind, target: string, input: JsonMap): Promise<Answer> {
    const request = requestFor(kind, target, input);
    const { answer } = await call(this.#connection, request, this.#settings).catch((error: unknown) => {
      if (!(error instanceof ServerFault)) throw error;
      throw new ServerFault(error.kind, `When ${target} was called with ${shown(input)}: ${error.message}`);
    });
    this.#settings.signal.throwIfAborted();
    return answer;
  }
}

const isError = (answer: Answer): boolean => answer.kind !== 'result' || isErrorResult(answer);

/** Formats a specification for people: comments first, then keys in reading order. */
export function specText(comments: readonly string[], specification: JsonMap): string {
  const head = comments.map((line) => `# ${line}\n`).join('');
  return `${head}\n${stringify(specification, { lineWidth: 100, aliasDuplicateObjects: false })}`;
}

/** Escapes a value from a server: what looks like a reference in it is text. */
export function verbatim(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (Array.isArray(value)) return value.map(verbatim);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, verbatim(item)]));
}

const MOST_FIELDS = 12;

/** Expectations that match this answer and others like it: its kind, not its content. */
export function shapeOf(answer: Answer): JsonMap {
  if (answer.kind === 'cancelled') return { cancelled: true };
  if (answer.kind === 'error') return { error: true, error_code: answer.code };
  if (isErrorResult(answer)) return { error: true };
  const fields = fieldsOf(answer);
  return fields.length === 0 ? {} : { fields };
}

function fieldsOf({ of, result }: Answer & { kind: 'result' }): JsonMap[] {
  if (!isMap(result)) return [];
  const { structuredContent, content, contents, messages } = result;
  if (of === 'resource') return typed(firstOf(contents), ['contents', 0], ['mimeType', 'text', 'blob']);
  if (of === 'prompt') return typed(firstOf(messages), ['messages', 0], ['role', 'content']);
  if (isMap(structuredContent)) return typed(structuredContent, [], Object.keys(structuredContent));
  const first = firstOf(content);
  return first === undefined ? [] : [{ path: '$.content[0].type', value: verbatim(first['type']) }];
}

const firstOf = (list: unknown): JsonMap | undefined =>
  Array.isArray(list) && isMap(list[0]) ? list[0] : undefined;

function typed(map: JsonMap | undefined, at: (string | number)[], keys: readonly string[]): JsonMap[] {
  if (map === undefined) return [];
  return keys
    .filter((key) => map[key] !== undefined && map[key] !== null)
    .slice(0, MOST_FIELDS)
    .map((key) => ({ path: verbatim(pathText([...at, key])), type: typeOf(map[key]) }));
}
