import { type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Pungi } from '@pungi/core';
import type { Caller } from '@pungi/core/contract';
import { z } from 'zod';
import { budgetOf, halfOf } from '../fit.js';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { answer, type Call, reply, type Tool } from './tool.js';

/** Room of a reply for its other fields, and for the line below the text. */
const BESIDE_CHARS = 300;

const Arguments = z
  .strictObject({
    run: z.string().max(100).optional().describe('Its run'),
    session: z.string().max(200).optional().describe('Or the session'),
    path: z.string().min(1).max(1024).describe('Its name'),
    offset: z.int().min(0).optional(),
  })
  .refine(
    ({ run, session }) => (run === undefined) !== (session === undefined),
    'give either run or session',
  );

interface FilePart {
  path: string;
  size: number;
  mimeType: string;
  text?: string;
  /** Instead of text, if it is not text. */
  base64?: string;
  /** Where the rest begins. */
  nextOffset?: number;
}

export const readFile = (): Tool => ({
  name: 'read_file',
  title: 'Read a file',
  description: 'Read a file of a run, part by part.',
  annotations: READ_ONLY,
  // A part names the offset of the next one.
  inputSchema: advertiseArguments(Arguments, ['offset']),
  answer: (args, call) =>
    answer(Arguments, args, call, async (asked) => reply(call, await fittingPart(asked, call), formatPart)),
});

/** Reads as much as a reply can show; the next call goes on behind it. */
async function fittingPart(
  { run, session, path, offset = 0 }: z.infer<typeof Arguments>,
  { pungi, caller }: Call,
): Promise<FilePart> {
  const of = run === undefined ? { session: session! } : { run };
  const room = halfOf(budgetOf(pungi.config)) - BESIDE_CHARS;
  for (let most = room; ; most = Math.floor(most / 2)) {
    const part = partOf(await pungi.readArtifact({ ...of, path, offset, most }, caller), offset);
    if (most <= 8 || JSON.stringify(part).length <= room) return part;
  }
}

type Read = Awaited<ReturnType<Pungi['readArtifact']>>;

/** Text is cut between characters, so that every part can be read by itself. */
function partOf({ path, size, mimeType, content }: Read, offset: number): FilePart {
  const whole = textOf(content, offset + content.length < size);
  const length = whole === undefined ? content.length : Buffer.byteLength(whole);
  const next = offset + length;
  return {
    path,
    size,
    mimeType,
    ...(whole === undefined ? { base64: content.toString('base64') } : { text: whole }),
    ...(next < size && { nextOffset: next }),
  };
}

/** Undefined if the bytes are no UTF-8 text. */
function textOf(content: Buffer, isCut: boolean): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for (let end = content.length; end >= Math.max(0, content.length - (isCut ? 3 : 0)); end -= 1) {
    try {
      const decoded = decoder.decode(content.subarray(0, end));
      return decoded.includes('\0') ? undefined : decoded;
    } catch {
      // the last character may be cut
    }
  }
  return undefined;
}

const formatPart = ({ text, base64, size, mimeType, nextOffset }: FilePart): string =>
  [
    text ?? `${mimeType}, ${size} bytes, as base64:\n${base64}`,
    ...(nextOffset === undefined ? [] : [`… ${size - nextOffset} bytes more: offset ${nextOffset}`]),
  ].join('\n');

/** The same file as a resource, for clients that read those. */
export async function readResource(pungi: Pungi, uri: string, caller: Caller): Promise<ReadResourceResult> {
  const [, run = '', path = ''] = /^pungi:\/\/run\/([^/]+)\/(.+)$/.exec(uri) ?? [];
  try {
    const { content, mimeType } = await pungi.readArtifact({ run, path: decodeURIComponent(path) }, caller);
    const whole = textOf(content, false);
    return {
      contents: [
        { uri, mimeType, ...(whole === undefined ? { blob: content.toString('base64') } : { text: whole }) },
      ],
    };
  } catch {
    throw new ResourceNotFoundError(uri);
  }
}
