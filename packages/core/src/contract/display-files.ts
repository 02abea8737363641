import type { Display } from './outcome.js';

/** How a part of a display is a file. */
export interface DisplayFile {
  /** The end of the file's name. */
  ending: string;
  /** Whether the part is base64. */
  isBase64: boolean;
  /** Kept for the caller of a run; the others repeat what the reply says. */
  isKept: boolean;
}

const FILES: readonly [RegExp, ending: string, 'base64' | 'text', 'kept' | 'not kept'][] = [
  [/^image\/png$/, '.png', 'base64', 'kept'],
  [/^image\/jpeg$/, '.jpg', 'base64', 'kept'],
  [/^image\/gif$/, '.gif', 'base64', 'kept'],
  [/^image\/webp$/, '.webp', 'base64', 'kept'],
  [/^image\/svg\+xml$/, '.svg', 'text', 'kept'],
  [/^application\/pdf$/, '.pdf', 'base64', 'kept'],
  [/^text\/html$/, '.html', 'text', 'kept'],
  [/^text\/csv$/, '.csv', 'text', 'kept'],
  [/^text\/markdown$/, '.md', 'text', 'not kept'],
  [/^text\/latex$/, '.tex', 'text', 'not kept'],
  [/^application\/javascript$/, '.js', 'text', 'not kept'],
  [/^application\/vnd\.pungi\.chart\+json$/, '.chart.json', 'text', 'not kept'],
  [/^application\/vnd\.plotly\.v1\+json$/, '.plotly.json', 'text', 'kept'],
  [/^application\/vnd\.vega.*\+json$/, '.vega.json', 'text', 'kept'],
  [/^application\/json$/, '.json', 'text', 'not kept'],
];

/** Undefined for a media type that is no file. */
export function displayFile(mediaType: string): DisplayFile | undefined {
  const found = FILES.find(([pattern]) => pattern.test(mediaType));
  if (found === undefined) return undefined;
  const [, ending, encoding, keeping] = found;
  return { ending, isBase64: encoding === 'base64', isKept: keeping === 'kept' };
}

export const isPicture = ({ data }: Pick<Display, 'data'>): boolean =>
  Object.keys(data).some((type) => type.startsWith('image/'));

/** The name of a display as a file, without its end. `number`: its place among the displays, from 1. */
export const displayStem = (display: Pick<Display, 'data'>, number: number): string =>
  `${isPicture(display) ? 'figure' : 'display'}-${number}`;

/** The bytes of such a file. */
export const displayContent = (content: Display['data'][string], { isBase64 }: DisplayFile): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content, isBase64 ? 'base64' : 'utf8')
    : Buffer.from(`${JSON.stringify(content, null, 2)}\n`);
