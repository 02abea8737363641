import type { Command } from 'commander';
import { PungiError } from '../../base/errors.js';
import { countText, sizeText } from '../../base/terminal.js';
import type { EnvironmentInfo } from '../../contract/environment.js';
import type { Parsed } from '../act.js';
import { ask, canAsk } from '../terminal/question.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  yes?: boolean;
  yesDefault?: boolean;
  wait?: boolean;
}

export const deleteCommand = (end: End): Command =>
  subcommand<[name: string], Flags>('delete', end, {
    about: 'delete an environment, after a question',
    operands: [['<name>', 'the environment']],
    options: [
      option('-y, --yes', 'do not ask'),
      option('--yes-default', 'do not ask a second time for the default environment'),
      option('--wait', 'wait until nothing uses it, instead of refusing'),
    ],
    help: `  pungi env delete old
  pungi env delete old --yes --wait
  pungi env delete default --yes --yes-default

Without a terminal to ask on, --yes is needed. After the default one is gone, it is
empty again.`,
    async run({ pungi, steps }, flags, venvName) {
      const info = await pungi.environments.show(venvName);
      if (info.path === null) {
        throw new PungiError(
          'ENVIRONMENT_NOT_FOUND',
          `"${venvName}" is empty: nothing was installed into it, so there is nothing to delete.`,
        );
      }
      await confirm(info, flags, steps.signal);
      await pungi.environments.delete(
        { venvName, confirm: true, confirmDefault: true, wait: flags.wait },
        steps,
      );
      return { json: { deleted: venvName }, text: `Deleted the environment "${venvName}".\n` };
    },
  });

/** Asks once, and for the default environment twice. Rejects unless every answer is yes. */
async function confirm(info: EnvironmentInfo, flags: Flags, signal: AbortSignal): Promise<void> {
  const { venvName, isDefault } = info;
  if (!flags.yes) {
    const question = `Delete the environment "${venvName}" (${contents(info)})? This cannot be undone. [y/N] `;
    await insist('--yes', signal, question, (answer) => /^y(es)?$/i.test(answer));
  }
  if (isDefault && !flags.yesDefault) {
    const question = `"${venvName}" is the default environment: runs that name none use it. Type its name to delete it: `;
    await insist('--yes-default', signal, question, (answer) => answer === venvName);
  }
}

async function insist(
  flag: string,
  signal: AbortSignal,
  question: string,
  agrees: (answer: string) => boolean,
): Promise<void> {
  if (!canAsk()) {
    throw new PungiError(
      'INVALID_INPUT',
      `There is no terminal to ask on: confirm the deletion with ${flag}.`,
    );
  }
  if (!agrees(await ask(question, signal))) throw new PungiError('CANCELLED', 'Nothing was deleted.');
}

const contents = ({ state, packageCount, sizeMb }: EnvironmentInfo) =>
  state === 'damaged' ? 'damaged' : `${countText(packageCount, 'package')}, ${sizeText(sizeMb)}`;
