import { z } from 'zod';
import type { Pungi } from '../../pungi.js';
import { asArgument, venvName } from './arguments.js';
import { prompt } from './prompt.js';

export const executePython = (pungi: Pungi) =>
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
