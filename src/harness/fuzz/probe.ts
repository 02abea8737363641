import type { Failure } from '../../contract/test-report.js';
import { isErrorResult, type JsonMap } from '../judge/answer.js';
import { call, requestFor } from '../run/call.js';
import type { Connection, RequestSettings } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';

/** What a server must not do, whatever it is sent. */
export interface Misdeed {
  kind: Failure['kind'];
  message: string;
  /** What it wrote to stderr meanwhile, its end. */
  stderr: string;
}

const MOST_STDERR = 2000;
/** By which a server, or what stands before it, refuses what it was sent: bad, too large, not to be processed. */
const REFUSING_STATUSES = [400, 413, 422];

/** One call: any answer is right, as long as it is one. */
export async function probe(
  connection: Connection,
  tool: string,
  input: JsonMap,
  settings: RequestSettings,
): Promise<{ misdeed?: Misdeed; isRefused: boolean }> {
  const mark = connection.stderrMark();
  const oddBefore = connection.traffic.odd;
  const misdeed = (kind: Failure['kind'], message: string): Misdeed => ({
    kind,
    message,
    stderr: connection.stderrSince(mark).slice(-MOST_STDERR),
  });
  try {
    const { answer, failures } = await call(connection, requestFor('tool', tool, input), settings);
    settings.signal?.throwIfAborted();
    const [failure] = failures;
    const [odd] = connection.traffic.oddities(oddBefore);
    const isRefused = answer.kind === 'error' || isErrorResult(answer);
    if (failure !== undefined) return { misdeed: misdeed(failure.kind, failure.message), isRefused };
    return odd === undefined ? { isRefused } : { misdeed: misdeed('protocol', odd), isRefused };
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    if (REFUSING_STATUSES.includes(error.httpStatus ?? 0)) return { isRefused: true };
    return { misdeed: misdeed(error.kind, error.message), isRefused: false };
  }
}
