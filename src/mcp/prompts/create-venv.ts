import { z } from 'zod';
import { asArgument } from './arguments.js';
import { prompt } from './prompt.js';

export const createVenv = () =>
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
