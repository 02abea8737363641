import type { Socket } from 'node:net';

const LONGEST_NAME = 256;
const NEWLINE = 10;

/** Reads the line that a forwarder puts before whatever a run sends; the rest stays in the socket. */
export function readCaller(socket: Socket, patience: number, found: (caller: string) => void): void {
  const impatience = setTimeout(() => socket.destroy(), patience);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => clearTimeout(impatience));
  let read = Buffer.alloc(0);
  const take = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(NEWLINE);
    if (end < 0 && read.length <= LONGEST_NAME) return;
    clearTimeout(impatience);
    socket.off('readable', take);
    if (end < 0) return void socket.destroy();
    const rest = read.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    found(read.subarray(0, end).toString('latin1'));
  };
  socket.on('readable', take);
}
