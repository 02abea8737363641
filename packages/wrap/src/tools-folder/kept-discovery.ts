import { PungiError, sha256 } from '@pungi/core/base';
import type { DiscoverRequest, Discovery, Inspection } from '@pungi/core/contract';
import type { PythonSide } from '../discover/discover-script.js';

const MOST_KEPT = 400;
/** Of what is kept, as characters of JSON. */
const MOST_CHARACTERS = 64 * 1024 * 1024;
/** What failed is tried again after this long, and then after twice as long each time. */
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 10 * 60_000;

interface Kept<T> {
  found: Promise<T>;
  size: number;
  /** Of what failed, though that may be no fault of the script: when it is tried again. */
  again?: number;
  failures: number;
}

/** Answers the same question once. One that could not be answered is left alone for longer and longer. */
function keeper<T>(now: () => number): (key: string, ask: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Kept<T>>();
  let characters = 0;
  const drop = (key: string) => {
    characters -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };
  const start = (key: string, ask: () => Promise<T>, failures: number): Kept<T> => {
    const one: Kept<T> = { found: ask(), size: 0, failures };
    one.found.then(
      (found) => {
        if (kept.get(key) !== one) return;
        one.size = JSON.stringify(found).length;
        characters += one.size;
        // The oldest first; the one that was asked for last stays, however large it is.
        for (const other of kept.keys()) if (characters > MOST_CHARACTERS && other !== key) drop(other);
      },
      (error: unknown) => {
        const { code } = PungiError.from(error);
        if (PASSING.has(code)) drop(key);
        if (code === 'PYTHON_ERROR') return;
        one.failures += 1;
        one.again = now() + Math.min(FIRST_PAUSE_MS * 2 ** (one.failures - 1), LONGEST_PAUSE_MS);
      },
    );
    return one;
  };
  return (key, ask) => {
    const before = kept.get(key);
    const isDue = before?.again !== undefined && now() >= before.again;
    const known = before === undefined || isDue ? start(key, ask, before?.failures ?? 0) : before;
    // The newest last: what nobody has asked for is the first to go.
    kept.delete(key);
    kept.set(key, known);
    if (kept.size > MOST_KEPT) drop(kept.keys().next().value!);
    return known.found;
  };
}

/**
 * Looks at the same code once, and gets along without an environment that has just gone: the next look will say so. Code that
 * could not be looked at, perhaps because it is made to take forever, is left alone for longer and longer.
 */
export function keptDiscovery(side: PythonSide, now: () => number = Date.now): PythonSide {
  const [read, inspected] = [keeper<Discovery>(now), keeper<Inspection>(now)];
  const discover = async (request: DiscoverRequest): Promise<Discovery> => {
    try {
      return await side.discover(request);
    } catch (error) {
      if (request.venvName === undefined || !isOfEnvironment(error)) throw error;
      const { venvName: _, ...elsewhere } = request;
      return side.discover(elsewhere);
    }
  };
  return {
    profiles: side.profiles,
    environments: side.environments,
    discover: (request) => {
      const { code, filename, package: within = '', venvName = '' } = request;
      return read(`${sha256(code)} ${venvName} ${within} ${filename}`, () => discover(request));
    },
    inspect: async (request, options) => {
      const { defaultName, metadata } = side.environments;
      const found = await metadata.call(side.environments, request.venvName ?? defaultName).catch(() => null);
      const key = sha256(JSON.stringify([request, options?.toolName, found?.generation]));
      return inspected(key, () => side.inspect(request, options));
    },
    probe: async (request, options) => {
      const outcome = await side.probe(request, options);
      if (outcome.verdict.kind === 'ok') return outcome;
      return { ...outcome, verdict: { kind: 'ok' }, value: { type: 'list', repr: '[]', json: [] } };
    },
  };
}

/** It was not even begun. */
const PASSING: ReadonlySet<string> = new Set(['SERVER_BUSY', 'CANCELLED']);

const isOfEnvironment = (error: unknown) => PungiError.from(error).code.startsWith('ENVIRONMENT_');
