import { countText, oneLine, type Style } from '../../base/terminal.js';
import type { ToolsFile } from '../../contract/wrap.js';
import type { Pungi } from '../../pungi.js';
import { type WrapPlace, type Wrapped, wrapScript } from '../../wrap/tools-file/wrap-script.js';
import type { Answer, Surroundings } from '../act.js';
import { includedPaths, type OwnScript } from './read-script.js';
import type { WrapFlags } from './subcommand.js';

/** What is done with a Pungi, after all that can be refused without one. */
export type Wrap = (pungi: Pungi, surroundings: Surroundings) => Promise<Answer>;

/** Looks at the script and makes its tools file, in place of an old one where there is one. */
export async function wrapOwn(
  pungi: Pungi,
  { steps }: Surroundings,
  own: OwnScript,
  { mode, functions, include, env, profile }: WrapFlags,
  place: WrapPlace,
): Promise<Wrapped> {
  const choice = { mode, functions, include: includedPaths(own, include), environment: env, profile };
  await pungi.ready();
  return wrapScript(pungi, own, choice, place, steps);
}

/** What clients call each tool, by the name that it has in its tools file. Hidden ones are not among them. */
export type OfferedNames = ReadonlyMap<string, string>;

/** As clients see them that have these tools alone. */
export const ownNames = ({ tools }: ToolsFile): OfferedNames =>
  new Map(tools.filter(({ hidden }) => hidden !== true).map(({ name }) => [name, name]));

/** A line for each tool, then what was left out, what is worth knowing and what is still to be done. */
export function toolsText(
  { file }: Wrapped,
  names: OfferedNames,
  toDo: readonly string[],
  style: Style,
): string {
  const remarkLines = (isSkipped: boolean, mark: string) =>
    file.remarks
      .filter((remark) => remark.isSkipped === isSkipped)
      .map(({ line, name, reason }) => `${mark} line ${line}, ${oneLine(`${name}: ${reason}`)}`);
  const lines = [
    ...file.tools.map(({ name, description, hidden }) =>
      hidden === true
        ? `${style('dim', '·')} ${name}${style('dim', ' (hidden)')}`
        : `${style('green', '✓')} ${names.get(name) ?? name}${style('dim', textAfter(description))}`,
    ),
    ...remarkLines(true, `${style('yellow', '·')} left out:`),
    ...remarkLines(false, `${style('dim', '·')} worth knowing:`),
    ...toDo.map((line) => `${style('yellow', '!')} ${oneLine(line)}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** As many tools as clients see. */
export const countOffered = (names: OfferedNames): string => countText(names.size, 'tool');

const textAfter = (description: string) => {
  const [first = ''] = description.trim().split(/\n\s*\n/, 1);
  return first === '' ? '' : `  ${oneLine(first)}`;
};
