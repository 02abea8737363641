import { z } from 'zod';
import { advertiseArguments, CREATES } from './advertise.js';
import { answer, reply, type Tool } from './tool.js';

/** A message has room for this much. */
const MOST_CHARS = 6 * 1024 * 1024;
const TOO_LARGE = `is larger than ${MOST_CHARS} characters: send it in parts`;

const Arguments = z
  .strictObject({
    text: z.string().max(MOST_CHARS, TOO_LARGE).optional().describe('A part; or base64'),
    base64: z.base64().max(MOST_CHARS, TOO_LARGE).optional(),
    upload: z.string().max(100).optional().describe('To go on'),
    offset: z.int().min(0).optional(),
  })
  .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), 'give either text or base64')
  .refine(
    ({ upload, offset }) => upload === undefined || offset !== undefined,
    'with upload, give the offset: the size that the last reply names',
  );

/** Other arguments, and the reply, name them. */
const HIDDEN = ['base64', 'offset'];

export const uploadFile = (): Tool => ({
  name: 'upload_file',
  title: 'Upload',
  description: 'Send a large file in parts, for files of runs.',
  annotations: CREATES,
  inputSchema: advertiseArguments(Arguments, HIDDEN),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ text, base64, upload, offset }) => {
      const content = base64 === undefined ? Buffer.from(text!) : Buffer.from(base64, 'base64');
      const added = await call.pungi.upload({ content, upload, offset }, call.caller);
      return reply(
        call,
        added,
        ({ upload: handle, size }) => `${handle} has ${size} bytes. The next part: offset ${size}.`,
      );
    }),
});
