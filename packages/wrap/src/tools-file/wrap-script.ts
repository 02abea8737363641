import { PungiError } from '@pungi/core/base';
import type { RunOptions, ToolsFile, WrapMode } from '@pungi/core/contract';
import type { PythonSide } from '../discover/discover-script.js';
import { type Looked, lookAt } from '../discover/surrounding.js';
import { requireTools } from './choose-tools.js';
import { makeToolsFile, updateToolsFile, type Wrapping } from './make-tools-file.js';

interface ScriptToWrap {
  code: string;
  /** Where it really is; what it imports is looked for beside it. Not given: it is alone. */
  path?: string;
  filename: string;
}

/** What is asked for; what is not given stays as it was. */
export interface WrapChoice {
  mode?: WrapMode | undefined;
  functions?: readonly string[] | undefined;
  include?: readonly string[] | undefined;
  environment?: string | undefined;
  profile?: string | undefined;
}

/** What the tools file says of itself, and the one in whose place it comes. */
export interface WrapPlace extends Pick<Wrapping, 'name' | 'script' | 'wrappedBy' | 'since'> {
  old: ToolsFile | undefined;
}

export interface Wrapped extends Looked {
  file: ToolsFile;
}

/** Looks at a script and makes its tools file, in place of an old one where there is one. Writes nothing. */
export async function wrapScript(
  side: PythonSide,
  script: ScriptToWrap,
  choice: WrapChoice,
  { old, ...place }: WrapPlace,
  options: RunOptions = {},
): Promise<Wrapped> {
  const wrapping: Wrapping = {
    ...place,
    // Functions that are chosen now are not meant for a mode that was chosen earlier.
    mode: choice.mode ?? (choice.functions === undefined ? old?.mode : undefined) ?? 'auto',
    functions: choice.functions ?? (choice.mode === undefined ? old?.functions : undefined),
    include: choice.include ?? old?.include,
    environment: choice.environment ?? old?.environment ?? null,
    profile: choice.profile ?? old?.profile ?? null,
  };
  checkChoice(wrapping);
  const { include, name: toolName } = wrapping;
  const looked = await lookAt(side, { ...script, include, toolName }, wrapping, options);
  const { discovery, filename, problem } = looked.look;
  // Functions that were chosen earlier may be gone; those that are chosen now must be there.
  const isThere = (name: string) => discovery.functions.some((tool) => tool.function === name);
  const functions = choice.functions ?? wrapping.functions?.filter(isThere);
  requireTools(discovery, { mode: wrapping.mode, functions }, filename, problem);
  const file =
    old === undefined ? makeToolsFile(looked.look, wrapping) : updateToolsFile(old, looked.look, wrapping);
  return { ...looked, file };
}

/** Throws for a choice that contradicts itself. */
export function checkChoice({ mode, functions }: Pick<WrapChoice, 'mode' | 'functions'>): void {
  if (mode !== 'script' || functions === undefined) return;
  const message = 'Functions were chosen, and the mode "script" offers none: give one of them.';
  throw new PungiError('INVALID_INPUT', message);
}
