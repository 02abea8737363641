import type { ScriptInUse } from './wrapped-script.js';

const MOST = 500;

/**
 * What the workers of each script are parked with: its own first imports and those of all scripts that run in the same
 * place. One list for a place means one set of parked workers for it, and not one for every script.
 */
export function preloads(scripts: readonly ScriptInUse[]): (script: ScriptInUse) => readonly string[] {
  const names = new Map<string, Set<string>>();
  for (const script of scripts) {
    const place = placeOf(script);
    const known = names.get(place) ?? new Set();
    names.set(place, known);
    for (const name of script.firstImports) known.add(name);
  }
  const lists = new Map([...names].map(([place, known]) => [place, [...known].slice(0, MOST)]));
  return (script) => lists.get(placeOf(script)) ?? [];
}

const placeOf = ({ tools: { environment, profile, dependencies, requiresPython } }: ScriptInUse) =>
  JSON.stringify([
    environment,
    profile,
    environment === null ? [[...dependencies].sort(), requiresPython] : [],
  ]);
