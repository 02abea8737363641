import type { SuiteReport } from '@pungi/core/contract';
import { isMap, isTooDeep, type JsonMap, MAX_DEPTH } from '../judge/answer.js';
import { cut } from '../judge/shown.js';
import type { Connection } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';

/** What a server offers, as it describes itself. */
export interface Offer {
  server: NonNullable<SuiteReport['server']>;
  instructions: string | undefined;
  capabilities: JsonMap;
  tools: JsonMap[];
  resources: JsonMap[];
  templates: JsonMap[];
  prompts: JsonMap[];
  /** Lists that could not be read or understood. */
  problems: string[];
}

export interface AskSettings {
  timeoutMs: number;
  signal: AbortSignal;
}

const MOST_PAGES = 500;
const MOST_ITEMS = 100_000;
const MOST_CHARACTERS = 64 * 1024 * 1024;
const LISTS = [
  { capability: 'tools', method: 'tools/list', key: 'tools', into: 'tools' },
  { capability: 'resources', method: 'resources/list', key: 'resources', into: 'resources' },
  {
    capability: 'resources',
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    into: 'templates',
  },
  { capability: 'prompts', method: 'prompts/list', key: 'prompts', into: 'prompts' },
] as const;

/** Reads everything that the server advertises. Throws a ServerFault if it does not answer. */
export async function readOffer(connection: Connection, settings: AskSettings): Promise<Offer> {
  const { client, server } = connection;
  const capabilities = (client.getServerCapabilities() ?? {}) as JsonMap;
  const offer: Offer = {
    server,
    instructions: client.getInstructions(),
    capabilities,
    tools: [],
    resources: [],
    templates: [],
    prompts: [],
    problems: [],
  };
  for (const { capability, method, key, into } of LISTS) {
    if (capabilities[capability] === undefined) continue;
    const { items, problem } = await listAll(connection, method, key, settings);
    offer[into] = items;
    // Many servers have resources but do not implement the list of templates.
    if (problem !== undefined && into !== 'templates') offer.problems.push(problem);
  }
  return offer;
}

async function listAll(
  connection: Connection,
  method: string,
  key: string,
  settings: AskSettings,
): Promise<{ items: JsonMap[]; problem?: string }> {
  const items: JsonMap[] = [];
  const seen = new Set<unknown>();
  let characters = 0;
  let cursor: unknown;
  // The limit is for all pages together: each of many may be just in time.
  const end = performance.now() + settings.timeoutMs;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const timeoutMs = Math.ceil(end - performance.now());
    if (timeoutMs <= 0)
      throw new ServerFault(
        'timeout',
        `${method} did not finish within ${settings.timeoutMs / 1000} seconds, after ${page} pages.`,
      );
    const answer = await connection.request(method, cursor === undefined ? {} : { cursor }, {
      ...settings,
      timeoutMs,
    });
    if (!('raw' in answer)) {
      settings.signal.throwIfAborted();
      const why = answer.kind === 'error' ? `error ${answer.code}: ${cut(answer.message, 500)}` : answer.kind;
      return { items, problem: `${method} returned ${why}` };
    }
    if (isTooDeep(answer.raw))
      return { items, problem: `${method} returned a value more than ${MAX_DEPTH} levels deep` };
    const result = isMap(answer.raw) ? answer.raw : {};
    const listed = result[key];
    if (!Array.isArray(listed) || listed.some((one) => !isMap(one)))
      return { items, problem: `${method} returned no list of ${key}` };
    characters += JSON.stringify(listed).length;
    if (items.length + listed.length > MOST_ITEMS || characters > MOST_CHARACTERS)
      return { items, problem: `${method} returned too much data` };
    for (const one of listed) items.push(one as JsonMap);
    cursor = result['nextCursor'];
    if (cursor === undefined || cursor === null) return { items };
    if (seen.has(cursor))
      return { items, problem: `${method} returned the same cursor twice, so it never ends` };
    seen.add(cursor);
  }
  return { items, problem: `${method} has more than ${MOST_PAGES} pages` };
}

export const nameOf = (one: JsonMap): string => (typeof one['name'] === 'string' ? one['name'] : '');
export const textIn = (one: JsonMap, key: string): string =>
  typeof one[key] === 'string' ? (one[key] as string) : '';
/** As declared by the tool; without a declaration it may change things. */
export const isReadOnly = (tool: JsonMap): boolean =>
  isMap(tool['annotations']) && tool['annotations']['readOnlyHint'] === true;
export const isDestructive = (tool: JsonMap): boolean =>
  isMap(tool['annotations']) && tool['annotations']['destructiveHint'] === true;
