import { displayContent, displayFile, displayStem } from '../contract/display-files.js';
import type { Display } from '../contract/outcome.js';
import { type LeftFile, MOST_FILES } from './left-files.js';

/** A display, and the names of its originals by media type, as the worker claims them. */
export interface Shown extends Display {
  originals: Readonly<Record<string, string>>;
}

/** What files may still be left. */
interface Room {
  bytes: number;
  taken: ReadonlySet<string>;
}

/**
 * What a run showed, as files under the names of their places: `figure-1.png`, `display-2.csv`. Originals of large pictures and
 * frames where there are any, else the displays as they are.
 */
export function shownFiles(
  shown: readonly Shown[],
  originals: ReadonlyMap<string, Buffer>,
  { bytes, taken }: Room,
): { files: LeftFile[]; leftOut: number } {
  const names = new Set(taken);
  const files: LeftFile[] = [];
  let room = bytes;
  let leftOut = 0;
  for (const [index, display] of shown.entries()) {
    for (const [mediaType, content] of contentsOf(display, originals)) {
      if (room <= 0 || content.length > room || names.size >= MOST_FILES) {
        leftOut += 1;
        continue;
      }
      const path = freeName(displayStem(display, index + 1) + displayFile(mediaType)!.ending, names);
      names.add(path);
      room -= content.length;
      files.push({ path, content });
    }
  }
  return { files, leftOut };
}

/** By media type: the original where there is one. */
function contentsOf(
  { data, originals: claimed }: Shown,
  originals: ReadonlyMap<string, Buffer>,
): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (const [mediaType, content] of Object.entries(data)) {
    const file = displayFile(mediaType);
    if (file?.isKept) contents.set(mediaType, displayContent(content, file));
  }
  for (const [mediaType, name] of Object.entries(claimed)) {
    const original = originals.get(name);
    if (original !== undefined && displayFile(mediaType)?.isKept) contents.set(mediaType, original);
  }
  return contents;
}

/** A file that the script made keeps its name. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? freeName(`shown-${name}`, taken) : name;
}
