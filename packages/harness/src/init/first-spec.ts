import { exampleInput } from '../inputs/example.js';
import { type Answer, isErrorResult, itemsOf, type JsonMap, textOf } from '../judge/answer.js';
import { cut, shown } from '../judge/shown.js';
import { call, requestFor } from '../run/call.js';
import type { Connection } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';
import type { Kind } from '../spec/raw.js';
import { type AskSettings, isReadOnly, nameOf, type Offer, textIn } from './offer.js';
import { shapeOf, verbatim } from './spec-text.js';

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
