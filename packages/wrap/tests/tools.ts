import type {
  Discovery,
  FunctionTool,
  ObjectSchema,
  ScriptTool,
  ToolsFile,
} from '../../core/src/contract/wrap.js';
import type { ScriptLook } from '../src/discover/discover-script.js';

/** A schema of parameters that are texts, each with its description. */
export const texts = (descriptions: Record<string, string>): ObjectSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [
      name,
      { type: 'string', ...(description !== '' && { description }) },
    ]),
  ),
  required: Object.keys(descriptions),
});

export const functionTool = (name: string, more: Partial<FunctionTool> = {}): FunctionTool => {
  const description = more.description ?? `What ${name} does.`;
  return {
    kind: 'function',
    function: name,
    isAsync: false,
    wrapsResult: true,
    name,
    description,
    inputSchema: texts({ path: 'where it is' }),
    outputSchema: null,
    line: 3,
    source: { description, parameters: { path: 'where it is' } },
    ...more,
  };
};

export const scriptTool = (name: string, more: Partial<ScriptTool> = {}): ScriptTool => ({
  kind: 'script',
  command: [],
  argv: [{ parameter: 'month', flag: '--month', takes: 'one' }],
  parser: 'argparse',
  stdin: null,
  name,
  description: 'The command line.',
  inputSchema: texts({ month: '' }),
  outputSchema: null,
  line: 20,
  source: { description: 'The command line.', parameters: {} },
  ...more,
});

/** A script that declares no command line of its own: whatever words, whatever input. */
export const anyWords = (name: string): ScriptTool =>
  scriptTool(name, {
    argv: [{ parameter: 'args', flag: null, takes: 'many' }],
    parser: null,
    stdin: 'stdin',
    inputSchema: texts({ args: '', stdin: '' }),
  });

export const discovered = (more: Partial<Discovery> = {}): Discovery => ({
  description: 'Reports of a month.',
  functions: [],
  scripts: [],
  remarks: [],
  problem: null,
  needsLoading: true,
  dependencies: [],
  requiresPython: null,
  imports: [],
  firstImports: [],
  namedFiles: [],
  hasMainGuard: false,
  hasSideEffects: false,
  ...more,
});

export const lookOf = (discovery: Discovery, more: Partial<ScriptLook> = {}): ScriptLook => ({
  code: '',
  filename: 'report.py',
  package: undefined,
  problem: null,
  sha256: 'abc',
  discovery,
  modules: [],
  imports: discovery.imports,
  missingImports: [],
  remarks: discovery.remarks,
  ...more,
});

/** A tools file without tools. */
export const emptyToolsFile = (changes: object = {}): string =>
  JSON.stringify({
    version: 1,
    name: 'x',
    description: '',
    script: 'x.py',
    sha256: '',
    mode: 'auto',
    environment: null,
    profile: null,
    dependencies: [],
    requiresPython: null,
    missingImports: [],
    modules: [],
    tools: [],
    remarks: [],
    ...changes,
  });

const NOTHING: ObjectSchema = { type: 'object', properties: {}, additionalProperties: false };

/** A tools file as discovery would make it, for a function "hello". */
export const toolsFile = (script: string, changes: Partial<ToolsFile> = {}, tool: object = {}): string =>
  emptyToolsFile({
    script,
    tools: [functionTool('hello', { inputSchema: NOTHING, ...tool })],
    ...changes,
  });
