import { z } from 'zod';
import type { Pungi } from '../../pungi.js';
import { asArgument, venvName } from './arguments.js';
import { prompt } from './prompt.js';

export const installPackages = (pungi: Pungi) =>
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
