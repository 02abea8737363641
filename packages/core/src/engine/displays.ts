import { z } from 'zod';
import { imageSize } from '../base/image-size.js';
import type { Display } from '../contract/outcome.js';
import { readReport } from '../runtime/reports.js';
import type { Shown } from './shown-files.js';
import { isShallowReport } from './worker-report.js';

/** The limits of what an outcome holds. A run can show more one after the other, each instead of the one before. */
const MOST_DISPLAYS = 100;
const MOST_BYTES = 6 * 1024 * 1024;
const MOST_MEDIA_TYPES = 20;
const MOST_OMITTED = 5;
/** Clients and models refuse larger pictures, some of them with the whole conversation. */
const LONGEST_SIDE = 8000;

const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
/** Other media types as bytes. */
const BINARY = /^(application\/(pdf|octet-stream)|audio\/.+|video\/.+)$/;
const JSON_DATA = /^application\/(.+\+)?json$/;
const OTHER_IMAGE = /^image\/(?!svg\+xml$)/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** In the form of displays.py. Foreign code can write any of it. */
const Reported = z.object({
  data: z.record(z.string(), z.unknown()).catch({}),
  id: z.string().max(200).optional().catch(undefined),
  update: z.boolean().catch(false),
  clear: z.boolean().catch(false),
  value: z.boolean().catch(false),
  omitted: z.array(z.string()).catch([]),
  leftOut: z.number().int().min(0).max(1e9).catch(0),
  originals: z.record(z.string().max(100), z.string().max(20)).catch({}),
});

type Places = Display['at'];
interface Held extends Shown {
  bytes: number;
}

/** Collects the displays of a run, as much as an outcome has room for. */
export class Displays {
  #held: Held[] = [];
  #leftOut = 0;
  #leftOutByWorker = 0;
  #omitted: string[] = [];

  /** `at`: the bytes that each stream had before. */
  take(payload: Buffer, at: Places): void {
    const { data: reported } = Reported.safeParse(readReport(payload));
    if (reported === undefined) return;
    this.#leftOutByWorker = Math.max(this.#leftOutByWorker, reported.leftOut);
    this.#omitted.push(...reported.omitted.slice(0, MOST_OMITTED - this.#omitted.length));
    const data = readData(reported.data);
    if (Object.keys(data).length === 0) return;
    if (reported.clear) this.#held = [];
    const { id } = reported;
    const earlier = reported.update ? this.#held.findIndex((one) => one.id === id) : this.#held.length;
    if (earlier < 0) return;
    const others = this.#held.reduce((sum, { bytes }, index) => (index === earlier ? sum : sum + bytes), 0);
    if (earlier >= MOST_DISPLAYS || others + payload.length > MOST_BYTES) {
      this.#leftOut += 1;
      return;
    }
    this.#held[earlier] = {
      data,
      at: this.#held[earlier]?.at ?? at,
      bytes: payload.length,
      originals: reported.originals,
      ...(id !== undefined && { id }),
      ...(reported.value && { isValue: true }),
    };
  }

  /** The displays with their places in the texts. `placesIn` gets the places in bytes, in order. */
  finish(placesIn: (stream: 'stdout' | 'stderr', bytes: number[]) => number[]): Shown[] {
    if (this.#held.length === 0) return [];
    const stdout = placesIn(
      'stdout',
      this.#held.map(({ at }) => at.stdout),
    );
    const stderr = placesIn(
      'stderr',
      this.#held.map(({ at }) => at.stderr),
    );
    return this.#held.map(({ bytes: _, ...display }, index) => ({
      ...display,
      at: { stdout: stdout[index]!, stderr: stderr[index]! },
    }));
  }

  get notes(): string[] {
    const leftOut = this.#leftOut + this.#leftOutByWorker;
    return [
      ...this.#omitted.map((what) => `A part of a display was left out: ${what.slice(0, 300)}.`),
      ...(leftOut === 0
        ? []
        : [
            `${leftOut} ${leftOut === 1 ? 'display was' : 'displays were'} left out: an outcome has room for ${MOST_DISPLAYS} displays with ${MOST_BYTES / 1024 / 1024} MB. Show fewer or smaller ones, or save them to files.`,
          ]),
    ];
  }
}

/** Keeps what is what it says it is. */
function readData(reported: Record<string, unknown>): Display['data'] {
  const entries = Object.entries(reported).slice(0, MOST_MEDIA_TYPES);
  return Object.fromEntries(entries.filter(([type, content]) => isValid(type, content))) as Display['data'];
}

function isValid(mediaType: string, content: unknown): boolean {
  if (!MEDIA_TYPE.test(mediaType)) return false;
  if (JSON_DATA.test(mediaType)) return isShallowReport(content);
  if (typeof content !== 'string' || (OTHER_IMAGE.test(mediaType) && !PICTURE.test(mediaType))) return false;
  if (PICTURE.test(mediaType)) return isBase64(content) && isShowable(mediaType, content);
  return BINARY.test(mediaType) ? isBase64(content) : true;
}

const isBase64 = (text: string) => text.length % 4 === 0 && BASE64.test(text);

function isShowable(mediaType: string, base64: string): boolean {
  const size = imageSize(mediaType, Buffer.from(base64, 'base64'));
  return size !== undefined && Math.max(size.width, size.height) <= LONGEST_SIDE;
}
