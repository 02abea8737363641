import { countText, oneLine } from '@pungi/core/base';
import {
  type ArtifactContent,
  type Display,
  displayContent,
  displayFile,
  displayStem,
  isPicture,
  type Outcome,
} from '@pungi/core/contract';
import type { OutFolder } from './out-folder.js';
import type { Streams } from './terminal.js';

/** Saves what the script showed, except for what is among the files that it left. */
export function saveShown({ displays = [] }: Outcome, out: OutFolder): void {
  for (const [index, display] of displays.entries()) {
    for (const [type, content] of Object.entries(display.data)) {
      const file = displayFile(type);
      if (file === undefined || file.isKept) continue;
      const name = displayStem(display, index + 1) + file.ending;
      const data = displayContent(content, file);
      // The script may have left a file of that name.
      if (!out.save(name, data)) out.save(`shown-${name}`, data);
    }
  }
}

/** The files of a display among those that a run left, by the end of their names. `number`: its place, from 1. */
export function filesOfDisplay(
  files: readonly ArtifactContent[],
  display: Display,
  number: number,
): Map<string, Buffer> {
  const stem = displayStem(display, number);
  const own = files.filter(({ path }) => path.startsWith(`${stem}.`));
  return new Map(own.map(({ path, content }) => [path.slice(stem.length), content]));
}

/** The files that a run left besides what it showed. */
export function withoutShown(
  files: readonly ArtifactContent[],
  displays: readonly Display[],
): ArtifactContent[] {
  const stems = displays.map((display, index) => `${displayStem(display, index + 1)}.`);
  return files.filter(({ path }) => !stems.some((stem) => path.startsWith(stem)));
}

/** Says how to get what is gone with the run. */
export function mentionLost(
  { displays = [] }: Outcome,
  files: readonly ArtifactContent[],
  { stderr }: Pick<Streams, 'stderr'> = process,
): void {
  const pictures = displays.filter(isPicture).length;
  const shown = pictures === 0 ? [] : [`${countText(pictures, 'picture')} ${were(pictures)} shown`];
  const own = withoutShown(files, displays);
  const [first] = own;
  const left =
    first === undefined
      ? []
      : [
          `${own.length === 1 ? `the file ${oneLine(first.path)}` : `${own.length} files`} ${were(own.length)} left`,
        ];
  const what = [...shown, ...left].join(', and ');
  if (what !== '') stderr.write(`pungi: ${what}; --out DIR saves what a run shows and leaves as files\n`);
}

const were = (count: number) => (count === 1 ? 'was' : 'were');
