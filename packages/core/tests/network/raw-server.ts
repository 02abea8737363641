import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface RawServer {
  port: number;
  /** Each connection, as long as it is open. */
  open: Set<Socket>;
  close(): void;
}

/** A host that does with each connection whatever the function does. */
export async function serveRaw(onConnection: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => {});
    socket.once('end', () => socket.end());
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
