import type { Command } from 'commander';
import { PungiError } from '../../base/errors.js';
import { countText, type Format, oneLine, type Style } from '../../base/terminal.js';
import type { Config } from '../../config/schema.js';
import { limitsOf } from '../../gate/limits.js';
import { checkProfiles, type ProfilesCheck } from '../../gate/profiles/check-profiles.js';
import { profilesFileOf } from '../../gate/profiles/load-profiles.js';
import { type ProfileProblem, problemText } from '../../gate/profiles/problem.js';
import type { Answer, Parsed, Surroundings } from '../act.js';
import { readConfig } from '../config-flags.js';
import { USAGE } from '../exit-codes.js';
import { checkCode } from './check-code.js';
import { environmentCheck } from './environment-problems.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  code?: string;
  profile?: string;
}

export const check = (end: End): Command =>
  subcommand<[file: string | undefined], Flags>('check', end, {
    about: 'check a profiles file, or code against a profile',
    operands: [['[file]', 'the profiles file; else PROFILES_FILE, or profiles.yaml']],
    options: [
      option(
        '--code <script>',
        'do not check the file, but whether this code ("-" for standard input) stays in the scope',
      ),
      option('-p, --profile <name>', 'with --code: the profile; else the default one'),
    ],
    settings: ['venvsBasePath', 'defaultVenvName', 'packageSources', 'python', 'tier', 'allowUnsandboxed'],
    help: `  pungi profile check
  pungi profile check team.yaml --json
  pungi profile check --code script.py --profile diego

Code is read in the sandbox and never run: what only shows while it runs is not found here.`,
    async run(surroundings, flags, file) {
      const config = { ...readConfig(flags), ...(file !== undefined && { profilesFile: file }) };
      if (flags.code !== undefined) return checkCode(surroundings, config, flags.code, flags.profile);
      if (flags.profile !== undefined) {
        throw new PungiError('INVALID_INPUT', '--profile says what --code is checked against: give both.');
      }
      return checkFile(surroundings, config);
    },
  });

function checkFile({ style }: Surroundings, config: Config): Answer {
  const file = profilesFileOf(config);
  const found = checkProfiles(file, config, limitsOf(config), environmentCheck(config));
  const result = { ...found, profiles: found.profiles.map(({ name }) => name) };
  return { json: result, text: screenOf(result, style), status: found.errors.length > 0 ? USAGE : 0 };
}

interface Result extends Omit<ProfilesCheck, 'profiles'> {
  profiles: string[];
}

function screenOf({ file, profiles, errors, warnings }: Result, style: Style): string {
  const line = (word: string, colour: Format) => (problem: ProfileProblem) =>
    `${style(colour, word)} ${oneLine(problemText(problem))}\n`;
  const counts = `${countText(errors.length, 'error')}, ${countText(warnings.length, 'warning')}`;
  const good = errors.length === 0 ? `${countText(profiles.length, 'profile')}, ` : '';
  const what = file === null ? 'No profiles file, only the built-in profiles' : file;
  return `${errors.map(line('error', 'red')).join('')}${warnings.map(line('warning', 'yellow')).join('')}${what}: ${good}${counts}.\n`;
}
