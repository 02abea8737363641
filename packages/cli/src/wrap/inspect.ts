import type { Pungi } from '@pungi/core';
import { oneLine, type Style, widthOf } from '@pungi/core/base';
import type { Remark, StepOptions, ToolSpec, ToolsFile } from '@pungi/core/contract';
import {
  checkChoice,
  type Looked,
  lookAt,
  makeToolsFile,
  originOf,
  type Parameter,
  parametersOf,
  toolsNameOf,
  typeWords,
} from '@pungi/wrap';
import type { Command } from 'commander';
import { withPungi } from '../act.js';
import { includedPaths, missingLines, type OwnScript, readOwnScript } from './read-script.js';
import {
  CHOICE,
  type ChoiceFlags,
  configOf,
  DISCOVERY_SETTINGS,
  type End,
  option,
  subcommand,
} from './subcommand.js';

export const inspect = (end: End): Command =>
  subcommand<[file: string], ChoiceFlags>('inspect', end, {
    about: 'show which tools "pungi wrap" finds in a script, and what it leaves out',
    operands: [['<file>', 'the Python script']],
    options: [
      ...CHOICE,
      option('-e, --env <name>', 'the environment to check its imports against'),
      option('-p, --profile <name>', 'the profile it would run under'),
    ],
    settings: DISCOVERY_SETTINGS,
    help: `  pungi wrap inspect report.py
  pungi wrap inspect report.py --mode both
  pungi wrap inspect report.py --env ml --json

The script is loaded in the sandbox, and run there up to the point where it reads its command line.`,
    async run({ steps, style }, flags, file) {
      const script = readOwnScript(file);
      const inspected = await withPungi(configOf(flags), (pungi) => inspectOwn(pungi, script, flags, steps));
      const { look, environment, made, others } = inspected;
      const json = {
        ...look.discovery,
        mode: made.mode,
        tools: made.tools,
        others: others.map(({ tool, only }) => ({ name: tool.name, kind: tool.kind, only })),
        remarks: made.remarks,
        modules: made.modules,
        environment,
        missingImports: look.missingImports,
      };
      return { json, text: screenOf(inspected, file, style) };
    },
  });

interface Inspected extends Looked {
  /** The tools file that wrapping the script would write. */
  made: ToolsFile;
  /** Tools that were not chosen, and the options that choose them. */
  others: { tool: ToolSpec; only: string }[];
}

async function inspectOwn(
  pungi: Pungi,
  own: OwnScript,
  { mode = 'auto', functions, include: paths, env, profile }: ChoiceFlags,
  steps: StepOptions,
): Promise<Inspected> {
  checkChoice({ mode, functions });
  const surrounding = { environment: env ?? null, profile: profile ?? null };
  const include = includedPaths(own, paths);
  await pungi.ready();
  const looked = await lookAt(pungi, { ...own, include }, surrounding, steps);
  const { discovery } = looked.look;
  const name = toolsNameOf(own.filename);
  const made = makeToolsFile(looked.look, { name, script: own.path, mode, functions, ...surrounding });
  const chosen = new Set(made.tools.map(originOf));
  const onlyWith = ({ kind }: ToolSpec) =>
    kind === 'script'
      ? 'only with --mode script or both'
      : mode === 'script'
        ? 'only with --mode function or both'
        : 'not among --functions';
  const others = [...discovery.functions, ...discovery.scripts]
    .filter((tool) => !chosen.has(originOf(tool)))
    .map((tool) => ({ tool, only: onlyWith(tool) }));
  return { ...looked, made, others };
}

function screenOf({ look, environment, made, others }: Inspected, file: string, style: Style): string {
  const { description, dependencies, requiresPython, hasSideEffects } = look.discovery;
  const toolsOf = (kind: ToolSpec['kind']) => made.tools.filter((tool) => tool.kind === kind);
  const remarksOf = (isSkipped: boolean) =>
    remarkLines(
      made.remarks.filter((remark) => remark.isSkipped === isSkipped),
      file,
    );
  const runsAtCalls = hasSideEffects && toolsOf('function').length > 0;
  const needs = [...(requiresPython === null ? [] : [`Python ${requiresPython}`]), ...dependencies];
  const sections: [heading: string, lines: string[]][] = [
    ['Functions', toolsOf('function').flatMap((tool) => toolLines(tool, style))],
    ['Command line', toolsOf('script').flatMap((tool) => toolLines(tool, style))],
    [
      'Not chosen',
      others.map(({ tool, only }) => `${oneLine(tool.name)}${style('dim', `  line ${tool.line}`)}  ${only}`),
    ],
    ['Not wrapped', remarksOf(true)],
    ['Notes', [...remarksOf(false), ...(runsAtCalls ? [SIDE_EFFECTS] : [])]],
    ['Needs', needs.map(oneLine)],
    ['Other files', look.modules.map(({ path }) => oneLine(path))],
    ['Cannot be loaded', look.problem === null ? [] : [oneLine(look.problem)]],
    ['Missing', missingLines(look.missingImports, environment).map(oneLine)],
  ];
  const shown = sections
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([heading, lines]) => ['', style('dim', heading), ...lines.map((line) => `  ${line}`)]);
  const title = `${style('bold', oneLine(file))}${description === '' ? '' : `  ${oneLine(firstOf(description))}`}`;
  const nothing =
    made.tools.length === 0 ? ['', `Nothing in it becomes a tool with --mode ${made.mode}.`] : [];
  return [title, ...shown, ...nothing, ''].join('\n');
}

const SIDE_EFFECTS = 'Its top-level code runs at each call of a function.';

function toolLines(tool: ToolSpec, style: Style): string[] {
  const definitions = tool.inputSchema['$defs'];
  const parameters = parametersOf(tool.inputSchema);
  const names = parameters.map(({ name }) => oneLine(name));
  const kinds = parameters.map((parameter) => kindText(parameter, definitions));
  const [nameWidth, kindWidth] = [widest(names), widest(kinds)];
  const result = tool.outputSchema === null ? '' : `  → ${resultTypeText(tool)}`;
  return [
    `${style('bold', oneLine(tool.name))}${style('dim', `  line ${tool.line}${result}`)}`,
    ...(tool.description === '' ? [] : [`  ${oneLine(firstOf(tool.description))}`]),
    ...parameters.map(({ description }, index) =>
      `    ${padded(names[index]!, nameWidth)}  ${padded(kinds[index]!, kindWidth)}  ${style('dim', oneLine(description))}`.trimEnd(),
    ),
  ];
}

function kindText({ schema, isRequired }: Parameter, definitions: unknown): string {
  const type = typeWords(schema, definitions);
  if (isRequired) return oneLine(`${type}, required`);
  return oneLine(
    schema['default'] === undefined ? type : `${type}, default ${JSON.stringify(schema['default'])}`,
  );
}

/** A value that is not an object is wrapped in one: shows the type of the value itself. */
function resultTypeText({ outputSchema, ...tool }: ToolSpec): string {
  const { properties, $defs } = (outputSchema ?? {}) as {
    properties?: { result?: unknown };
    $defs?: unknown;
  };
  const isWrapped = tool.kind === 'function' && tool.wrapsResult;
  return oneLine(typeWords(isWrapped ? properties?.result : outputSchema, $defs));
}

/** Formats one remark per line, in the form that editors understand. */
const remarkLines = (remarks: readonly Remark[], file: string) =>
  remarks.map(({ line, name, reason }) => oneLine(`${file}:${line} ${name}: ${reason}`));

const firstOf = (text: string) => text.trim().split(/\n\s*\n/, 1)[0]!;
const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(widthOf));
const padded = (text: string, width: number) => text + ' '.repeat(width - widthOf(text));
