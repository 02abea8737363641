import type { ImageContent } from '@modelcontextprotocol/server';
import type { Display, Outcome } from '@pungi/core/contract';

/** The types that clients and models know, best first. */
const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;

/** A display as a picture, if it has one. */
export function pictureOf({ data }: Display): ImageContent | undefined {
  for (const mimeType of PICTURES) {
    const base64 = data[mimeType];
    if (typeof base64 === 'string') return { type: 'image', data: base64, mimeType };
  }
  return undefined;
}

/** The pictures that fit into a reply, in order. */
export function picturesOf({ displays = [] }: Outcome, imageBytes: number): ImageContent[] {
  let room = imageBytes;
  return displays.flatMap((display) => {
    const picture = pictureOf(display);
    if (picture === undefined || picture.data.length > room) return [];
    room -= picture.data.length;
    return [picture];
  });
}
