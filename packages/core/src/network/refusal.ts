/** Why a request is refused, as sent to its client. */
export class Refusal extends Error {
  constructor(
    readonly status: 400 | 403 | 502 | 503 | 504,
    message: string,
  ) {
    super(message);
  }

  /** Few clients show the body of an answer to CONNECT, so the sentence is in the reason phrase, too. */
  get reasonPhrase(): string {
    return this.message.replace(/[^\x20-\x7e]/g, '?').slice(0, 1000);
  }
}

const TITLES = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway', 503: 'Busy', 504: 'Timeout' };

/** Formats the whole answer, for a connection that no HTTP server writes to. */
export function writeRefusal(refusal: Refusal): string {
  const text = `${refusal.message}\n`;
  return [
    `HTTP/1.1 ${refusal.status} ${TITLES[refusal.status]}: ${refusal.reasonPhrase}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

export const statusLine = ({ status, reasonPhrase }: Refusal): string => `${TITLES[status]}: ${reasonPhrase}`;
