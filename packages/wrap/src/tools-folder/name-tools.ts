import { freeName } from '../tools-file/choose-tools.js';
import type { ScriptInUse, WrappedTool } from './wrapped-script.js';

/** Pungi's own tools keep their names, whether this server offers them or not. */
export const BUILT_IN_NAMES: readonly string[] = [
  'analyze_code',
  'cancel_run',
  'checkpoint_session',
  'create_venv',
  'delete_venv',
  'end_session',
  'execute_python',
  'execute_python_file',
  'execute_strategic_code',
  'get_run',
  'health_check',
  'install_packages',
  'list_files',
  'list_packages',
  'list_profiles',
  'list_runs',
  'list_sessions',
  'list_venvs',
  'list_wrapped',
  'read_file',
  'read_output',
  'set_venv_description',
  'uninstall_packages',
  'unwrap_script',
  'upload_file',
  'wrap_script',
];

interface NamedScript {
  name: string;
  inUse: ScriptInUse;
}

/**
 * The tools of all scripts, by names that stay: what was offered before keeps its name, then the oldest script that has
 * a tool of a name has it, and all others get the name of their script before it.
 */
export function nameTools(
  scripts: readonly NamedScript[],
  before: Iterable<WrappedTool> = [],
): WrappedTool[] {
  const preloadOf = preloads(scripts.map(({ inUse }) => inUse));
  const offered = scripts.flatMap(({ name: group, inUse: script }) =>
    script.tools.tools
      .filter(isOffered(script))
      .map((spec) => ({ group, script, spec, preload: preloadOf(script) })),
  );
  const held = new Map([...before].map((tool) => [keyOf(tool), tool.name]));
  const taken = new Set(BUILT_IN_NAMES);
  const names = new Map<(typeof offered)[number], string>();
  const give = (tool: (typeof offered)[number], name: string | undefined) => {
    if (name === undefined || names.has(tool) || taken.has(name)) return;
    taken.add(name);
    names.set(tool, name);
  };
  const byAge = offered.toSorted((one, other) => one.script.since - other.script.since);
  // All of the owner's have their names before any that a client brought: it must not stand in for one of them.
  for (const isClients of [false, true]) {
    const tools = byAge.filter(({ script }) => (script.tools.wrappedBy === 'client') === isClients);
    for (const tool of tools) give(tool, held.get(keyOf(tool)));
    for (const tool of tools) give(tool, tool.spec.name);
    for (const tool of tools) {
      if (names.has(tool)) continue;
      give(tool, freeName(`${validName(tool.group)}_${tool.spec.name}`, '', taken));
    }
  }
  return offered.map((tool) => ({ ...tool, name: names.get(tool)! }));
}

/** The same tool at another look. */
const keyOf = ({ group, script, spec }: Pick<WrappedTool, 'group' | 'script' | 'spec'>) =>
  JSON.stringify([group, script.path, spec.name]);

function isOffered({ faults }: ScriptInUse) {
  const leftOut = new Set(faults.filter(({ isLeftOut }) => isLeftOut).map(({ tool }) => tool));
  return ({ name, hidden }: { name: string; hidden?: boolean | undefined }) =>
    hidden !== true && !leftOut.has(name);
}

const validName = (text: string) => text.replaceAll(/[^A-Za-z0-9_.-]/g, '_');

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
