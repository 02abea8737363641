import { basename } from 'node:path';
import { oneLine, printable } from '../../base/terminal.js';
import type { Config } from '../../config/schema.js';
import type { CodeSummary } from '../../contract/disclosure.js';
import type { ScopeViolation } from '../../contract/outcome.js';
import { type Answer, type Surroundings, withPungi } from '../act.js';
import { DENIED } from '../exit-codes.js';
import { asText, readOwnFile, readStdin } from '../own-input.js';
import { violationLines } from '../violations.js';

/** Whether code stays in the scope of a profile, as far as it can be read. */
export async function checkCode(
  { steps }: Surroundings,
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
