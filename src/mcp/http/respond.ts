import type { ServerResponse } from 'node:http';

export function respondJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}

/** An answer in the shape of JSON-RPC to a request that never reached the protocol. */
export function respondProblem(
  res: ServerResponse,
  status: number,
  code: number,
  message: string,
  { headers = {}, id = null }: { headers?: Record<string, string>; id?: string | number | null } = {},
): void {
  respondJson(res, status, { jsonrpc: '2.0', error: { code, message }, id }, headers);
}
