import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import { shapeOf, verbatim } from '../init/first-spec.js';
import {
  type Answer,
  documentsOf,
  isErrorResult,
  isMap,
  isTooDeep,
  type JsonMap,
  textOf,
} from '../judge/answer.js';
import type { Kind } from '../spec/raw.js';

/** A call of a client and its answer. */
interface Recorded {
  kind: Kind;
  target: string;
  input: JsonMap;
  answer: Answer;
  /** The client's answers to requests of the server during the call. */
  elicitation: JsonMap[];
  sampling: unknown[];
}

type Call = Omit<Recorded, 'answer'> & { scope: string };

const KINDS: Record<string, Kind> = {
  'tools/call': 'tool',
  'resources/read': 'resource',
  'prompts/get': 'prompt',
};
/** Sessions of people have fewer. */
const MOST_CALLS = 1000;
/** The total for all calls: they are held in memory, and become a file that people read. */
const MOST_CHARACTERS = 50_000_000;

/**
 * Observes the messages between clients and a server, in both eras of the protocol, and keeps the answered calls. Ids are
 * unique within a scope: a session, or one exchange over HTTP.
 */
export class Recorder {
  readonly calls: Recorded[] = [];
  server: { name: string; version: string } | undefined;
  readonly #open = new Map<string, Call>();
  /** The methods of pending requests of the server, by id. */
  readonly #asked = new Map<string, string>();
  #characters = 0;

  fromClient(line: string, scope = ''): void {
    for (const message of messagesIn(line)) {
      const { method, params } = message;
      const id = idOf(message);
      if (method === 'notifications/cancelled' && isMap(params))
        this.#open.delete(keyOf(scope, params['requestId']));
      else if (typeof method === 'string' && id !== undefined) this.#begin(scope, id, method, params);
      else if (id !== undefined && 'result' in message) this.#answered(scope, id, message['result']);
    }
  }

  /** Returns true when a call is complete. */
  fromServer(line: string, scope = ''): boolean {
    const before = this.calls.length;
    if (this.#characters + line.length > MOST_CHARACTERS) return false;
    for (const message of messagesIn(line)) {
      const { method, result, error } = message;
      const id = idOf(message);
      if (id === undefined) continue;
      if (typeof method !== 'string') this.#complete(keyOf(scope, id), result, error);
      else if (this.#asked.size < MOST_CALLS) this.#asked.set(keyOf(scope, id), method);
    }
    const isComplete = this.calls.length > before;
    if (isComplete) this.#characters += line.length;
    return isComplete;
  }

  /** Drops pending calls of a scope that has ended. */
  endOf(scope: string): void {
    for (const [key, call] of this.#open) if (call.scope === scope) this.#open.delete(key);
  }

  #begin(scope: string, id: unknown, method: string, params: unknown): void {
    const kind = KINDS[method];
    const given = isMap(params) ? params : {};
    if (kind === undefined) return;
    const target = String(kind === 'resource' ? given['uri'] : given['name']);
    const input = isMap(given['arguments']) ? given['arguments'] : {};
    const call: Call = { scope, kind, target, input, elicitation: [], sampling: [] };
    // In the newer era, answers to the server's requests come with the repeated call.
    for (const response of Object.values(isMap(given['inputResponses']) ? given['inputResponses'] : {}))
      keepAnswer(call, response);
    this.#open.set(keyOf(scope, id), call);
  }

  /** The client's answer belongs to the pending call, if there is exactly one. */
  #answered(scope: string, id: unknown, result: unknown): void {
    const key = keyOf(scope, id);
    const method = this.#asked.get(key);
    this.#asked.delete(key);
    const [call, ...others] = [...this.#open.values()].filter((one) => one.scope === scope);
    if (call === undefined || others.length > 0) return;
    if (method === 'elicitation/create' || method === 'sampling/createMessage') keepAnswer(call, result);
  }

  #complete(key: string, result: unknown, error: unknown): void {
    const call = this.#open.get(key);
    this.#open.delete(key);
    this.#greet(result);
    if (call === undefined || (isMap(result) && result['resultType'] === 'input_required')) return;
    const { scope: _, ...made } = call;
    const answer = answerOf(call.kind, result, error);
    if (answer !== undefined && this.calls.length < MOST_CALLS) this.calls.push({ ...made, answer });
  }

  /** Reads the server's name from the handshake; in the newer era, from every answer. */
  #greet(result: unknown): void {
    if (this.server !== undefined || !isMap(result)) return;
    const meta = isMap(result['_meta']) ? result['_meta'] : {};
    const info = result['serverInfo'] ?? meta[SERVER_INFO_META_KEY];
    if (isMap(info) && typeof info['name'] === 'string')
      this.server = { name: info['name'], version: String(info['version'] ?? '') };
  }
}

function keepAnswer(call: Call, response: unknown): void {
  if (!isMap(response)) return;
  if (typeof response['action'] === 'string') {
    const { action, content } = response;
    call.elicitation.push({ action, ...(isMap(content) ? { content } : {}) });
  } else if ('content' in response) call.sampling.push(response);
}

function answerOf(of: Kind, result: unknown, error: unknown): Answer | undefined {
  if (!isMap(error)) return result === undefined ? undefined : { kind: 'result', of, result };
  const { code, message, data } = error;
  return {
    kind: 'error',
    code: Number(code),
    message: String(message),
    ...(data === undefined ? {} : { data }),
  };
}

function messagesIn(line: string): JsonMap[] {
  try {
    const value: unknown = JSON.parse(line);
    // The serializer is recursive.
    if (isTooDeep(value)) return [];
    return (Array.isArray(value) ? value : [value]).filter(isMap);
  } catch {
    return [];
  }
}

/** Other types are not valid ids. */
const idOf = ({ id }: JsonMap): string | number | undefined =>
  typeof id === 'string' || typeof id === 'number' ? id : undefined;

/** Distinguishes 1 from "1". */
const keyOf = (scope: string, id: unknown): string => `${scope} ${JSON.stringify(id) ?? ''}`;

const MAX_MESSAGE_CHARS = 200;

interface RecordedOptions {
  name: string;
  server: JsonMap;
  /** Expect exact answers, not only answers of the same kind. */
  isExact: boolean;
}

/** Writes recorded calls as tests, in the order of the calls. Repeated calls become one test. */
export function recordedSpec(calls: readonly Recorded[], options: RecordedOptions): JsonMap {
  const tests = calls.map((call) => ({ call, written: testOf(call, options.isExact) }));
  const once = new Map(
    tests.toReversed().map((one) => [JSON.stringify([one.call.kind, one.call.target, one.written]), one]),
  );
  const first = new Set(once.values());
  const kept = tests.filter((one) => first.has(one));
  const group = (kind: Recorded['kind'], key: string, name: string): JsonMap => {
    const groups: { target: string; tests: JsonMap[] }[] = [];
    for (const [index, { call, written }] of kept.entries()) {
      if (call.kind !== kind) continue;
      // A tool may have several groups: later calls may depend on calls in between.
      if (groups.at(-1)?.target !== call.target) groups.push({ target: call.target, tests: [] });
      groups.at(-1)!.tests.push({ name: `call ${index + 1}`, ...written });
    }
    if (groups.length === 0) return {};
    return { [key]: groups.map(({ target, tests: own }) => ({ [name]: verbatim(target), tests: own })) };
  };
  return {
    name: verbatim(options.name),
    server: options.server,
    // Tests run one after another, like the recorded calls.
    test_config: { max_concurrency: 1 },
    ...group('tool', 'tools', 'name'),
    ...group('resource', 'resources', 'uri_template'),
    ...group('prompt', 'prompts', 'name'),
  };
}

function testOf({ input, answer, elicitation, sampling }: Recorded, isExact: boolean): JsonMap {
  const expected = isExact ? exactly(answer) : shapeOf(answer);
  return {
    ...(Object.keys(input).length === 0 ? {} : { input: verbatim(input) }),
    ...(elicitation.length === 0 ? {} : { elicitation: verbatim(elicitation) }),
    ...(sampling.length === 0 ? {} : { sampling: verbatim(sampling) }),
    ...(Object.keys(expected).length === 0 ? {} : { expected }),
  };
}

function exactly(answer: Recorded['answer']): JsonMap {
  const isError = answer.kind === 'error' || isErrorResult(answer);
  if (!isError) return { equals: verbatim(documentsOf(answer)[0]) };
  const text = textOf(answer).slice(0, MAX_MESSAGE_CHARS);
  return { ...shapeOf(answer), ...(text === '' ? {} : { error_message_contains: verbatim(text) }) };
}
