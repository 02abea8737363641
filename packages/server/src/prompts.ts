import { completable } from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { isServed } from '@pungi/core/config';
import { MAX_CODE_BYTES } from '@pungi/core/contract';
import { CAPABILITIES, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { aboutPersona, usablePersonas } from './tools/descriptions.js';

/** The prompts whose tools are served. */
export function promptsFor(pungi: Pungi): Prompt[] {
  const { config, profiles } = pungi;
  const runs = isServed(config, 'run');
  const changes = runs && config.environmentTools;
  return [
    ...(runs ? [executePython(pungi), debugPython(pungi)] : []),
    ...(changes && isServed(config, 'packages') ? [installPackages(pungi)] : []),
    ...(changes && isServed(config, 'environments') ? [createVenv()] : []),
    ...(isServed(config, 'strategic') && usablePersonas(profiles).length > 0
      ? [strategicAnalysis(profiles)]
      : []),
  ];
}

const mayInstall = ({ config }: Pungi) => config.environmentTools && isServed(config, 'packages');

const executePython = (pungi: Pungi) =>
  prompt({
    name: 'execute-python',
    title: 'Solve a task with Python',
    description: 'Write Python for a task, run it and report the result.',
    argsSchema: z.object({
      task: z.string().describe('what to find out or make'),
      venvName: venvName(pungi, 'the environment to run in; default: the default one'),
    }),
    format: ({ task, venvName }) => {
      const there = venvName ? ` (${asArgument('venvName', venvName)})` : '';
      const missing =
        mayInstall(pungi) && venvName
          ? 'Install what is missing with install_packages into the same environment.'
          : `For other packages, name them in a "# /// script" block at the top of the code${venvName ? ', and leave out venvName' : ''}.`;
      return [
        `Solve this task by running Python with the tool execute_python${there}:`,
        task,
        '',
        isServed(pungi.config, 'packages')
          ? `- See with list_packages${there} what can be imported beyond the standard library. ${missing}`
          : `- ${missing}`,
        '- Every call is a fresh process without network: pass data with files, context or inputData, and print or return what you need.',
        '- If a call fails, read the first line of its error and the traceback, fix the code and run it again.',
        '- Answer from what the code has printed, and show the code that gave the answer.',
      ].join('\n');
    },
  });

const debugPython = (pungi: Pungi) =>
  prompt({
    name: 'debug-python',
    title: 'Debug Python code',
    description: 'Find out why code fails, fix it, and prove that it works.',
    argsSchema: z.object({
      code: z.string().max(MAX_CODE_BYTES).describe('the code that does not do what it should'),
      error: z.string().max(MAX_CODE_BYTES).optional().describe('the error or the wrong output, if known'),
      venvName: venvName(pungi, 'the environment it runs in; default: the default one'),
    }),
    format: ({ code, error, venvName }) =>
      [
        'Find out why this Python code does not work, and fix it:',
        fence(code, 'python'),
        ...(error ? ['Known about the failure:', fence(error)] : []),
        '',
        ...(isServed(pungi.config, 'analysis') ? ['- Check it with analyze_code: errors come first.'] : []),
        `- Run it as it is with execute_python${venvName ? ` (${asArgument('venvName', venvName)})` : ''} and see the failure for yourself. If a module is missing, the error names its package${mayInstall(pungi) ? ' for install_packages' : ''}.`,
        '- Name the cause in a sentence, and change only what is needed.',
        '- Run the fixed code with the input that failed and with an edge case, and show that it works.',
        'Answer with the cause, the fixed code and its output.',
      ].join('\n'),
  });

const installPackages = (pungi: Pungi) =>
  prompt({
    name: 'install-packages',
    title: 'Install packages',
    description: 'Install packages into an environment and check that they can be imported.',
    argsSchema: z.object({
      packages: z.string().describe('the packages, separated by commas or spaces, such as "pandas numpy>=2"'),
      venvName: venvName(pungi, 'the environment to install into; default: the default one'),
    }),
    format: ({ packages, venvName }) => {
      const there = venvName ? ` (${asArgument('venvName', venvName)})` : '';
      return [
        `Install these packages with install_packages${there}, each as one item of its list: ${packages}`,
        '',
        '- If it fails, nothing was changed. The error gives the reason for each package: correct a name that does not exist, loosen versions that conflict, and leave out what is not available.',
        `- Then import each of them with execute_python${there} and print its version.`,
        'Report which versions were installed, and what was not and why.',
      ].join('\n');
    },
  });

const createVenv = () =>
  prompt({
    name: 'create-venv',
    title: 'Create an environment',
    description: 'Create a named environment for a purpose, with the packages it needs.',
    argsSchema: z.object({
      venvName: z.string().describe('its name: letters, digits, "_" and "-"'),
      purpose: z.string().describe('what it is for'),
      packages: z
        .string()
        .optional()
        .describe('the packages, separated by commas or spaces; default: chosen for the purpose'),
    }),
    format: ({ venvName, purpose, packages }) =>
      [
        `Create a Python environment with create_venv (${asArgument('venvName', venvName)}) for this purpose:`,
        purpose,
        '',
        `- See with list_venvs whether "${venvName}" exists already; if so, do not delete it: install what is missing into it.`,
        packages
          ? `- Packages, each as one item of its list: ${packages}`
          : '- Choose the packages that the purpose needs, and no others. Leave versions open unless it requires one.',
        '- Give it a description of one sentence.',
        `- Then run a few lines in it with execute_python (${asArgument('venvName', venvName)}) that use the main packages.`,
        'Report its Python version and packages, and how to run code in it.',
      ].join('\n'),
  });

const oneOf = (known: readonly string[], about: string) =>
  completable(z.string().describe(`${about}: ${known.join(', ')}`), (begun) =>
    known.filter((name) => name.startsWith(begun ?? '')),
  );

const strategicAnalysis = (profiles: Profiles) => {
  const personas = usablePersonas(profiles);
  return prompt({
    name: 'strategic-analysis',
    title: 'Analyze strategically',
    description: 'Answer a strategic question from figures, as one of the personas.',
    argsSchema: z.object({
      persona: oneOf(
        personas.map(({ name }) => name),
        'whose analysis it is',
      ),
      capability: oneOf(CAPABILITIES, 'what it is for').optional(),
      question: z.string().describe('what to decide or understand'),
    }),
    format: ({ persona, capability, question }) => {
      const known = personas.find(({ name }) => name === persona);
      const who = known === undefined ? '' : ` The persona is ${aboutPersona(known)}.`;
      const args = [
        asArgument('persona', persona),
        ...(capability ? [asArgument('capability', capability)] : []),
      ];
      return [
        `Answer this question with execute_strategic_code (${args.join(', ')}):`,
        question,
        '',
        `- See with list_profiles what code of "${persona}" may import and which data it has.${who}`,
        '- Pass figures in context, and print or return tables and figures, not prose.',
        '- Code outside the scope is refused with its line and the reason: rewrite it without that.',
        '- Answer from the output of the code: the result first, then the reasoning, then the assumptions.',
        '- Show the disclosure that the reply begins with.',
      ].join('\n');
    },
  });
};

/** A prompt as data: its advertised fields, and the function that formats it. */
interface Prompt<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  argsSchema: z.ZodObject<Shape>;
  format: (args: z.infer<z.ZodObject<Shape>>) => string;
}

/** Infers the types of one prompt's arguments, then erases them so that all prompts fit one list. */
const prompt = <Shape extends z.ZodRawShape>(data: Prompt<Shape>): Prompt => data as unknown as Prompt;

/** Completes the names of environments; those made for inline dependencies are left out. */
const venvName = ({ environments }: Pungi, about: string) =>
  completable(z.string().describe(about), async (begun) =>
    (await environments.list())
      .filter(({ isInline, venvName }) => !isInline && venvName.startsWith(begun ?? ''))
      .map(({ venvName }) => venvName),
  ).optional();

/** Fences content so that it cannot end the block early. */
function fence(content: string, language = ''): string {
  let ticks = '```';
  for (const [found] of content.matchAll(/`{3,}/g)) if (found.length >= ticks.length) ticks = `${found}\``;
  return `${ticks}${language}\n${content.trimEnd()}\n${ticks}`;
}

const asArgument = (name: string, value: unknown) => `${name}: ${JSON.stringify(value)}`;
