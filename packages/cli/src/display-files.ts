import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PungiError } from '@pungi/core/base';
import type { Display, Outcome } from '@pungi/core/contract';

/** How the contents of a display are saved: the end of the file name, and whether they are base64. */
const FILES: readonly [RegExp, ending: string, isBase64?: true][] = [
  [/^image\/png$/, '.png', true],
  [/^image\/jpeg$/, '.jpg', true],
  [/^image\/gif$/, '.gif', true],
  [/^image\/webp$/, '.webp', true],
  [/^image\/svg\+xml$/, '.svg'],
  [/^application\/pdf$/, '.pdf', true],
  [/^text\/html$/, '.html'],
  [/^text\/csv$/, '.csv'],
  [/^text\/markdown$/, '.md'],
  [/^text\/latex$/, '.tex'],
  [/^application\/javascript$/, '.js'],
  [/^application\/vnd\.pungi\.chart\+json$/, '.chart.json'],
  [/^application\/vnd\.plotly\.v1\+json$/, '.plotly.json'],
  [/^application\/vnd\.vega.*\+json$/, '.vega.json'],
  [/^application\/json$/, '.json'],
];

const isPicture = ({ data }: Display) => Object.keys(data).some((type) => type.startsWith('image/'));

/** Creates the folder before the run, which would be lost if it could not be written. */
export function prepareFolder(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const reason = (error as Error).message;
    throw new PungiError('INVALID_INPUT', `The folder of --out cannot be created: ${reason}.`);
  }
}

/** Saves what the script showed, and reports where it is. Without a folder, reports how to get the pictures. */
export function saveDisplays({ displays = [] }: Outcome, folder: string | undefined): void {
  if (folder !== undefined) {
    const saved = displays.flatMap((display, index) => saveDisplay(display, folder, index + 1));
    for (const path of saved) process.stderr.write(`pungi: saved ${path}\n`);
    return;
  }
  const pictures = displays.filter(isPicture).length;
  const were = pictures === 1 ? '1 picture was' : `${pictures} pictures were`;
  if (pictures > 0) process.stderr.write(`pungi: ${were} shown; --out DIR saves what is shown as files\n`);
}

function saveDisplay(display: Display, folder: string, number: number): string[] {
  const stem = join(folder, `${isPicture(display) ? 'figure' : 'display'}-${number}`);
  return Object.entries(display.data).flatMap(([type, content]) => {
    const [, ending, isBase64] = FILES.find(([pattern]) => pattern.test(type)) ?? [];
    if (ending === undefined) return [];
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
    writeFileSync(stem + ending, isBase64 ? Buffer.from(text, 'base64') : text);
    return [stem + ending];
  });
}
