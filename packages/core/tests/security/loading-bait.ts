import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { LoadingTargets } from './loading-packages.js';

/** Programs and a file of the host that everybody on it can reach: it must be the sandbox that refuses. */
export async function layBait(folder: string): Promise<{ targets: LoadingTargets; remove(): void }> {
  const udp = createSocket('udp4');
  udp.on('message', (message, { port, address }) => udp.send(message, port, address));
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const unix = join(folder, 'bait.sock');
  const abstract = `pungi-bait-${randomBytes(6).toString('hex')}`;
  const servers = [await listen(unix), await listen(`\0${abstract}`)];
  chmodSync(unix, 0o777);
  const file = join(folder, 'bait.txt');
  writeFileSync(file, 'of the host');
  chmodSync(file, 0o666);
  return {
    targets: { udp: udp.address().port, unix, abstract, file },
    remove: () => {
      udp.close();
      for (const server of servers) server.close();
    },
  };
}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  return server;
}
