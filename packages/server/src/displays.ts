import type { ContentBlock, ImageContent, TextContent } from '@modelcontextprotocol/server';
import { imageSize } from '@pungi/core/base';
import type { Display, Outcome } from '@pungi/core/contract';
import { isEnding } from './format-outcome.js';

type Part = Display['data'][string];

const MOST_IMAGES = 20;
/** Larger parts of a display, such as pictures and HTML, are left out of structured content. */
const LARGEST_PART = 2000;
/** The types that clients and models know, best first. */
const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

/** A display as a picture, if it has one. Neither clients nor models take SVG as a picture: a sentence mentions it. */
function pictureOf({ data }: Display): ImageContent | TextContent | undefined {
  for (const mimeType of PICTURES) {
    const base64 = data[mimeType];
    if (typeof base64 === 'string') return { type: 'image', data: base64, mimeType };
  }
  const svg = data['image/svg+xml'];
  if (typeof svg !== 'string') return undefined;
  const text = `An SVG picture of ${svg.length} characters was shown; replies have only PNG, JPEG, WebP and GIF.\n`;
  return { type: 'text', text };
}

interface Placed {
  /** Its place in the standard output. */
  at: number;
  picture: ImageContent | TextContent;
}

const bytesOf = ({ picture }: Placed) => (picture.type === 'image' ? picture.data.length : 0);

/** Returns the pictures that fit into a reply, in order, and the number of the others. */
function picturesOf({ displays = [] }: Outcome, maxBytes: number): { shown: Placed[]; leftOut: number } {
  let room = maxBytes;
  const all = displays.flatMap((display) => {
    const picture = pictureOf(display);
    return picture === undefined ? [] : [{ at: display.at.stdout, picture }];
  });
  const shown = all.filter((placed, index) => {
    const bytes = bytesOf(placed);
    if (bytes > room || index >= MOST_IMAGES) return false;
    room -= bytes;
    return true;
  });
  return { shown, leftOut: all.length - shown.length };
}

/**
 * Adds the pictures of a run to the blocks of its reply, each at its place in the standard output. `shownStdout`: the output as the
 * blocks have it, maybe cut in the middle.
 */
export function withPictures(
  blocks: readonly ContentBlock[],
  outcome: Outcome,
  shownStdout: string,
  maxBytes: number,
): ContentBlock[] {
  const { shown, leftOut } = picturesOf(outcome, maxBytes);
  if (shown.length + leftOut === 0) return [...blocks];
  const index =
    shownStdout === '' ? -1 : blocks.findIndex((one) => one.type === 'text' && one.text === shownStdout);
  const pictures = shown.map(({ picture }) => picture);
  const end = blocks.findIndex((one) => one.type === 'text' && isEnding(one.text));
  const all =
    index < 0
      ? blocks.toSpliced(end < 0 ? blocks.length : end, 0, ...pictures)
      : blocks.toSpliced(
          index,
          1,
          ...interleave(shownStdout, placesIn(outcome.stdout.text, shownStdout, shown)),
        );
  return leftOut === 0 ? all : [...all, { type: 'text', text: leftOutSentence(leftOut, maxBytes, outcome) }];
}

const leftOutSentence = (count: number, maxBytes: number, { artifacts }: Outcome) =>
  `${count === 1 ? '1 picture was' : `${count} pictures were`} left out: a reply has room for ${MOST_IMAGES} pictures with ${Math.round(maxBytes / 1024)} KB of base64. ${artifacts === undefined ? 'Show fewer or smaller ones.' : 'The files of the run have them.'}`;

/** Moves places in the whole output to the same places in a text that was cut in the middle. */
function placesIn(whole: string, cut: string, pictures: Placed[]): Placed[] {
  if (whole === cut) return pictures;
  let head = 0;
  while (head < cut.length && whole[head] === cut[head]) head += 1;
  let tail = 0;
  while (tail < cut.length - head && whole.at(-1 - tail) === cut.at(-1 - tail)) tail += 1;
  const move = (at: number) => {
    if (at <= head) return at;
    return at >= whole.length - tail ? cut.length - (whole.length - at) : cut.length - tail;
  };
  return pictures.map(({ at, picture }) => ({ at: move(at), picture }));
}

function interleave(output: string, pictures: readonly Placed[]): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  let from = 0;
  for (const { at, picture } of pictures) {
    if (at > from) blocks.push({ type: 'text', text: output.slice(from, at) });
    blocks.push(picture);
    from = Math.max(from, at);
  }
  if (from < output.length) blocks.push({ type: 'text', text: output.slice(from) });
  return blocks;
}

/** Pictures travel once, as content blocks: elsewhere their size stands for them. Other large parts of displays are left out. */
export function withSmallDisplays(outcome: Outcome): Outcome {
  if (outcome.displays === undefined) return outcome;
  const displays = outcome.displays.map((display) => ({
    ...display,
    data: Object.fromEntries(
      Object.entries(display.data).flatMap(([type, content]) => smallPart(type, content)),
    ),
  }));
  return { ...outcome, displays };
}

function smallPart(mediaType: string, content: Part): [string, Part][] {
  if (typeof content === 'string' && mediaType.startsWith('image/')) {
    const size = imageSize(mediaType, Buffer.from(content, 'base64'));
    const text =
      size === undefined ? `${content.length} characters` : `${size.width} × ${size.height} pixels`;
    return [[mediaType, `(${text})`]];
  }
  return JSON.stringify(content).length <= LARGEST_PART ? [[mediaType, content]] : [];
}

/** What a run showed besides text, for a reader who has only structured content: the size of pictures, and data such as that of charts. */
export const shownParts = ({ displays = [] }: Outcome): Record<string, Part>[] =>
  displays
    .map(({ data }) =>
      Object.fromEntries(Object.entries(data).filter(([type]) => /^image\/|json$/.test(type))),
    )
    .filter((data) => Object.keys(data).length > 0)
    .slice(0, MOST_IMAGES);
