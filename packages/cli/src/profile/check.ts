import { basename } from 'node:path';
import { countText, type Format, oneLine, PungiError, printable, type Style } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { CodeSummary, ScopeViolation } from '@pungi/core/contract';
import { checkName, defaultBase, Layout, parseRequirements, Store } from '@pungi/core/environments';
import {
  checkProfiles,
  type FurtherCheck,
  limitsOf,
  type ProfileProblem,
  type ProfilesCheck,
  problemText,
  profilesFileOf,
  type RuleProblem,
} from '@pungi/core/gate';
import type { Command } from 'commander';
import { type Answer, type CommandContext, type Parsed, withPungi } from '../act.js';
import { readConfig } from '../config-flags.js';
import { DENIED, USAGE } from '../exit-codes.js';
import { asText, readOwnFile, readStdin } from '../own-files.js';
import { violationLines } from '../run-output.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  code?: string;
  profile?: string;
}

export const check = (end: End): Command =>
  subcommand<[file: string | undefined], Flags>('check', end, {
    about: 'check a profiles file, or code against a profile',
    operands: [['[file]', 'the profiles file; default: PROFILES_FILE, or profiles.yaml']],
    options: [
      option('--code <script>', 'check this code ("-" for standard input) against a profile instead'),
      option('-p, --profile <name>', 'with --code: the profile; default: the default one'),
    ],
    settings: ['venvsBasePath', 'defaultVenvName', 'packageSources', 'python', 'tier', 'allowUnsandboxed'],
    help: `  pungi profile check
  pungi profile check team.yaml --json
  pungi profile check --code script.py --profile diego

Code is read in the sandbox and never run: problems that only appear at run time are not found.`,
    async run(context, flags, file) {
      const config = { ...readConfig(flags), ...(file !== undefined && { profilesFile: file }) };
      if (flags.code !== undefined) return checkCode(context, config, flags.code, flags.profile);
      if (flags.profile !== undefined) {
        throw new PungiError('INVALID_INPUT', '--profile needs --code: give both.');
      }
      return checkFile(context, config);
    },
  });

function checkFile({ style }: CommandContext, config: Config): Answer {
  const file = profilesFileOf(config);
  const found = checkProfiles(file, config, limitsOf(config), environmentCheck(config));
  const result = { ...found, profiles: found.profiles.map(({ name }) => name) };
  return { json: result, text: screenOf(result, style), status: found.errors.length > 0 ? USAGE : 0 };
}

interface Result extends Omit<ProfilesCheck, 'profiles'> {
  profiles: string[];
}

function screenOf({ file, profiles, errors, warnings }: Result, style: Style): string {
  const line = (label: string, colour: Format) => (problem: ProfileProblem) =>
    `${style(colour, label)} ${oneLine(problemText(problem))}\n`;
  const counts = `${countText(errors.length, 'error')}, ${countText(warnings.length, 'warning')}`;
  const good = errors.length === 0 ? `${countText(profiles.length, 'profile')}, ` : '';
  const what = file === null ? 'No profiles file, only the built-in profiles' : file;
  return `${errors.map(line('error', 'red')).join('')}${warnings.map(line('warning', 'yellow')).join('')}${what}: ${good}${counts}.\n`;
}

/** Checks statically whether code stays in the scope of a profile. */
async function checkCode(
  { steps }: CommandContext,
  config: Config,
  file: string,
  profile = config.defaultProfile,
): Promise<Answer> {
  const isStdin = file === '-';
  const code = isStdin
    ? asText(await readStdin(steps.signal), 'Standard input')
    : asText(readOwnFile(file), file);
  const shown = isStdin ? '<stdin>' : file;
  const examined = await withPungi(config, (pungi) =>
    pungi.examine({ code, profile, ...(!isStdin && { filename: basename(file) }) }),
  );
  const { violations, summary, exception } = examined;
  if (exception !== undefined)
    return { json: examined, text: `${printable(exception.traceback)}\n`, status: 1 };
  const text = violations.length > 0 ? outside(violations, shown, profile) : inside(summary, shown, profile);
  return { json: examined, text, status: violations.length > 0 ? DENIED : 0 };
}

const outside = (violations: readonly ScopeViolation[], file: string, profile: string) =>
  `${violationLines(violations, file)}${file} leaves the scope of the profile "${profile}".\n`;

const inside = (summary: CodeSummary | null, file: string, profile: string) =>
  `${file} stays in the scope of the profile "${profile}".${summary === null ? '' : ` ${oneLine(summary.text)}`}\n`;

type Settings = Pick<Config, 'venvsBasePath' | 'defaultVenvName' | 'packageSources'>;

/** Checks that the environments of profiles exist and their packages are allowed. */
function environmentCheck(settings: Settings): FurtherCheck {
  const store = new Store(new Layout(settings.venvsBasePath ?? defaultBase()));
  const isMissing = (name: string) => name !== settings.defaultVenvName && !store.isThere(checkName(name));
  return ({ definition: { environment, packages = [] } }, profile) => {
    const found: RuleProblem[] = [];
    const attempt = (path: (string | number)[], work: () => string | undefined) => {
      const problem = sentenceOf(work);
      if (problem !== undefined) found.push({ path, problem });
    };
    if (environment !== undefined) {
      const advice = `there is no environment "${environment}"; create it with: pungi env create ${environment}`;
      attempt(['environment'], () => (isMissing(environment) ? advice : undefined));
    }
    if (profile.environment !== null) return found;
    for (const [index, one] of packages.entries())
      attempt(['packages', index], () => void parseRequirements([one], settings.packageSources));
    return found;
  };
}

/** Returns the problem, whether it is returned or thrown. */
function sentenceOf(work: () => string | undefined): string | undefined {
  try {
    return work();
  } catch (error) {
    return PungiError.from(error).message.replace(/\.$/, '');
  }
}
