import { PROFILE_EXIT_CODES_HELP } from '../exit-codes.js';
import { subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** One command of `pungi profile`. */
export const subcommand = subcommandsOf({
  settings: ['profilesFile', 'defaultProfile', 'allowedProfiles'],
  exitCodes: PROFILE_EXIT_CODES_HELP,
});
