import { completable } from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import { MAX_CODE_BYTES } from '@pungi/core/contract';
import { CAPABILITIES, type Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { aboutPersona, isAlone, usablePersonas } from './tools/descriptions.js';

export const promptsFor = (pungi: Pungi): Prompt[] => [
  ...(isAlone(pungi.config) ? [] : generalPrompts(pungi)),
  ...(usablePersonas(pungi.profiles).length > 0 ? [strategicAnalysis(pungi.profiles)] : []),
];

const generalPrompts = (pungi: Pungi): Prompt[] => [
  executePython(pungi),
  debugPython(pungi),
  ...(pungi.config.environmentTools ? [installPackages(pungi), createVenv()] : []),
];

const executePython = (pungi: Pungi) =>
  prompt({
    name: 'execute-python',
    title: 'Solve a task with Python',
    description: 'Write Python for a task, run it and report the result.',
    argsSchema: z.object({
      task: z.string().describe('what is to be found out or made'),
      venvName: venvName(pungi, 'the environment to run in; the default one if not given'),
    }),
    word: ({ task, venvName }) => {
      const there = venvName ? ` (${asArgument('venvName', venvName)})` : '';
      const mayInstall = pungi.config.environmentTools && venvName;
      const missing = mayInstall
        ? 'Install what is missing with install_packages into the same environment.'
        : `For other packages, name them in a "# /// script" block at the top of the code${venvName ? ', and leave out venvName' : ''}.`;
      return [
        `Solve this task by running Python with the tool execute_python${there}:`,
        task,
        '',
        `- See with list_packages${there} what can be imported beyond the standard library. ${missing}`,
        '- Every call is a fresh process without network: hand data over with files, context or inputData, and print or return what you need.',
        '- If a call fails, read the first line of its error and the traceback, mend the code and run it again.',
        '- Answer from what the code has printed, and show the code that gave the answer.',
      ].join('\n');
    },
  });

const debugPython = (pungi: Pungi) =>
  prompt({
    name: 'debug-python',
    title: 'Debug Python code',
    description: 'Find out why code fails, mend it, and prove that it works.',
    argsSchema: z.object({
      code: z.string().max(MAX_CODE_BYTES).describe('the code that does not do what it should'),
      error: z
        .string()
        .max(MAX_CODE_BYTES)
        .optional()
        .describe('the error or the wrong output, as far as it is known'),
      venvName: venvName(pungi, 'the environment that it runs in; the default one if not given'),
    }),
    word: ({ code, error, venvName }) =>
      [
        'Find out why this Python code does not work, and mend it:',
        fence(code, 'python'),
        ...(error ? ['What is known of the failure:', fence(error)] : []),
        '',
        '1. Look at it with analyze_code: errors come first.',
        `2. Run it as it is with execute_python${venvName ? ` (${asArgument('venvName', venvName)})` : ''} and see the failure for yourself. If a module is missing, the error names its package${pungi.config.environmentTools ? ' for install_packages' : ''}.`,
        '3. Name the cause in a sentence, and change no more than it takes.',
        '4. Run the mended code, with the input that failed and with one at the edge, and show that it works.',
        'Answer with the cause, the mended code and what running it gave.',
      ].join('\n'),
  });

const installPackages = (pungi: Pungi) =>
  prompt({
    name: 'install-packages',
    title: 'Install packages',
    description: 'Install packages into an environment and see that they can be imported.',
    argsSchema: z.object({
      packages: z.string().describe('the packages, separated by commas or spaces, such as "pandas numpy>=2"'),
      venvName: venvName(pungi, 'the environment to install into; the default one if not given'),
    }),
    word: ({ packages, venvName }) => {
      const there = venvName ? ` (${asArgument('venvName', venvName)})` : '';
      return [
        `Install these packages with install_packages${there}, each as one item of its list: ${packages}`,
        '',
        '- If it fails, nothing was changed. The error says for each package why: correct a name that does not exist, loosen versions that exclude each other, and leave out what cannot be had.',
        `- Then import each of them with execute_python${there} and print its version.`,
        'Report what was installed in which version, and what was not and why.',
      ].join('\n');
    },
  });

const createVenv = () =>
  prompt({
    name: 'create-venv',
    title: 'Create an environment',
    description: 'Make a named environment for a purpose, with the packages that it takes.',
    argsSchema: z.object({
      venvName: z.string().describe('its name: letters, digits, "_" and "-"'),
      purpose: z.string().describe('what it is for'),
      packages: z
        .string()
        .optional()
        .describe('the packages, separated by commas or spaces; chosen for the purpose if not given'),
    }),
    word: ({ venvName, purpose, packages }) =>
      [
        `Make a Python environment with create_venv (${asArgument('venvName', venvName)}) for this purpose:`,
        purpose,
        '',
        `- See with list_venvs whether "${venvName}" exists already; if so, do not delete it: install what is missing into it.`,
        packages
          ? `- Packages, each as one item of its list: ${packages}`
          : '- Choose the packages that the purpose takes, and no others. Leave versions open unless it asks for one.',
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
    description: 'Answer a question of strategy from figures, as one of the personas.',
    argsSchema: z.object({
      persona: oneOf(
        personas.map(({ name }) => name),
        'whose analysis it is',
      ),
      capability: oneOf(CAPABILITIES, 'what it is for').optional(),
      question: z.string().describe('what is to be decided or understood'),
    }),
    word: ({ persona, capability, question }) => {
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
        `- See with list_profiles what code of "${persona}" may import and which data it finds.${who}`,
        '- Hand figures over in context, and print or return tables and figures, not prose.',
        '- Code that leaves the scope is refused with its line and the reason: write it without that.',
        '- Answer from what the code gave: the result first, then how it follows, then what it takes for granted.',
        '- Show the disclosure that the reply begins with.',
      ].join('\n');
    },
  });
};

/** A prompt as data: what is advertised, and the words for what was filled in. */
interface Prompt<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  argsSchema: z.ZodObject<Shape>;
  word: (args: z.infer<z.ZodObject<Shape>>) => string;
}

/** Keeps the types of the arguments together, and then lets prompts of all kinds lie in one list. */
const prompt = <Shape extends z.ZodRawShape>(data: Prompt<Shape>): Prompt => data as unknown as Prompt;

/** Completed from the environments that there are; those that the server made for scripts have names for nobody. */
const venvName = ({ environments }: Pungi, about: string) =>
  completable(z.string().describe(about), async (begun) =>
    (await environments.list())
      .filter(({ isInline, venvName }) => !isInline && venvName.startsWith(begun ?? ''))
      .map(({ venvName }) => venvName),
  ).optional();

/** As a block that no content can end early. */
function fence(content: string, language = ''): string {
  let ticks = '```';
  for (const [found] of content.matchAll(/`{3,}/g)) if (found.length >= ticks.length) ticks = `${found}\``;
  return `${ticks}${language}\n${content.trimEnd()}\n${ticks}`;
}

const asArgument = (name: string, value: unknown) => `${name}: ${JSON.stringify(value)}`;
