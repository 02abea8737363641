import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { durationText } from '@pungi/core/base';
import type { Failure } from '@pungi/core/contract';
import { type Answer, isMap } from '../judge/answer.js';
import { cut } from '../judge/shown.js';

/** A failure of the server that leaves no answer to judge. The message is a sentence for a person. */
export class ServerFault extends Error {
  readonly kind: Extract<Failure['kind'], 'timeout' | 'protocol' | 'server' | 'cancellation'>;

  constructor(
    kind: ServerFault['kind'],
    message: string,
    /** The HTTP status, if that was the whole answer. */
    readonly httpStatus?: number,
  ) {
    super(message);
    this.name = 'ServerFault';
    this.kind = kind;
  }

  toFailure(): Failure {
    return { kind: this.kind, message: this.message };
  }
}

/** Converts an exception of the client: into an answer of the server, or into the underlying fault. */
export function explain(error: unknown, timeoutMs: number): Answer | ServerFault {
  if (error instanceof ServerFault) return error;
  if (error instanceof ProtocolError) {
    if (error.data instanceof ServerFault) return error.data;
    const { code, message, data } = error;
    return { kind: 'error', code, message, ...(data === undefined ? {} : { data }) };
  }
  if (error instanceof SdkHttpError) return httpFault(error);
  if (error instanceof SdkError) return sdkFault(error, timeoutMs);
  if (error instanceof Error && error.name === 'SyntaxError')
    return new ServerFault('protocol', `The server's answer is not JSON: ${error.message}`);
  return new ServerFault('server', `Could not reach the server: ${deepest(error)}.`);
}

/** "fetch failed" says nothing; its cause does. */
function deepest(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === 'bad port') return 'bad port: HTTP clients never use this one, choose another';
  return error.cause instanceof Error ? deepest(error.cause) : error.message || error.name;
}

function httpFault(error: SdkHttpError): Answer | ServerFault {
  const text = typeof error.data['text'] === 'string' ? error.data['text'] : '';
  const answered = jsonRpcError(text);
  if (answered !== undefined) return answered;
  // Only the title of an HTML page is useful.
  const page = /^\s*</.test(text) ? (/<title>([^<]*)<\/title>/i.exec(text)?.[1] ?? '') : text;
  const detail = page.trim() === '' ? '' : `: ${cut(page.trim(), 300)}`;
  const { status } = error;
  return new ServerFault('server', `The server answered with HTTP status ${status}${detail}`, status);
}

/** Many servers send JSON-RPC errors with an HTTP error status. */
function jsonRpcError(text: string): Answer | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = isMap(body) ? body['error'] : undefined;
    if (!isMap(error) || typeof error['code'] !== 'number') return undefined;
    const { code, message, data } = error;
    return { kind: 'error', code, message: String(message), ...(data === undefined ? {} : { data }) };
  } catch {
    return undefined;
  }
}

function sdkFault(error: SdkError, timeoutMs: number): ServerFault {
  if (error.code === SdkErrorCode.RequestTimeout)
    return new ServerFault('timeout', `The server did not answer within ${durationText(timeoutMs)}.`);
  if (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType)
    return new ServerFault('protocol', `The answer violates the protocol: ${cut(error.message, 500)}`);
  if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
    return new ServerFault('server', 'The server closed the connection.');
  if (error.code === SdkErrorCode.CapabilityNotSupported && isMap(error.data))
    return new ServerFault(
      'protocol',
      `The server requested ${cut(JSON.stringify(error.data['method'] ?? null), 200)}, which the client does not support.`,
    );
  const { cause } = error;
  if (error.code === SdkErrorCode.EraNegotiationFailed && cause instanceof TypeError)
    return new ServerFault('server', `Could not reach the server: ${deepest(cause)}.`);
  const behind = cause instanceof Error ? ` (${deepest(cause)})` : '';
  return new ServerFault('protocol', `${cut(error.message, 500)}${behind}`);
}
