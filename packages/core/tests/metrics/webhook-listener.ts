import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Heard {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** A real server that hears what is posted and answers as the test says. */
export async function listenForWebhook(
  answer: (res: ServerResponse, count: number) => void = (res) => res.writeHead(204).end(),
): Promise<{ address: string; heard: Heard[]; close: () => Promise<void> }> {
  const heard: Heard[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    req.on('end', () => {
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      heard.push({ path: req.url ?? '', headers: req.headers, body });
      answer(res, heard.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard, close };
}
