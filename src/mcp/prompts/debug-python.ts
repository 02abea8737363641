import { z } from 'zod';
import { MAX_CODE_BYTES } from '../../contract/run.js';
import type { Pungi } from '../../pungi.js';
import { asArgument, fence, venvName } from './arguments.js';
import { prompt } from './prompt.js';

export const debugPython = (pungi: Pungi) =>
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
