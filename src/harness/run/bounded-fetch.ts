import { ServerFault } from './server-fault.js';

/** More than this as one message is for nobody: it would be held in memory until it ends, if it ever does. */
const MOST_BYTES = 64 * 1024 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

/** `fetch`, but that no message is without end: of a stream each event, of another response the body. */
export function boundedFetch(onTooMuch: (fault: ServerFault) => void, most = MOST_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = (headers.get('content-type') ?? '').includes('text/event-stream');
    let bytes = 0;
    const meter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const ended = isStream ? lastEventEnd(chunk) : -1;
        bytes = ended < 0 ? bytes + chunk.length : chunk.length - ended;
        if (bytes <= most) return controller.enqueue(chunk);
        const fault = new ServerFault(
          'protocol',
          `The server sent more than ${most / 1024 ** 2} MB as one message, and it had not ended.`,
        );
        controller.error(fault);
        onTooMuch(fault);
      },
    });
    return new Response(body.pipeThrough(meter), { status, statusText, headers });
  };
}

/** Where the last event ends in a piece of a stream. One that ends between two pieces is not seen, and need not be. */
function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(...EVENT_ENDS.map((end) => bytes.lastIndexOf(end)));
}
