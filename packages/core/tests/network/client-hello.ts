import { Duplex } from 'node:stream';
import { connect } from 'node:tls';

/** What a real TLS client begins with. */
export function clientHello(servername?: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(said: Buffer, _encoding, done) {
        resolve(said);
        done();
        setImmediate(() => client.destroy());
      },
    });
    const name = servername === undefined ? {} : { servername };
    const client = connect({ socket: wire, rejectUnauthorized: false, ...name });
    client.on('error', () => {});
  });
}

const sized = (bytes: 1 | 2 | 3, content: Buffer): Buffer => {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([length, content]);
};

export const record = (content: Buffer, type = 22): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 1]), sized(2, content)]);

/** The same bytes in records of so many. */
export function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) parts.push(record(message.subarray(at, at + size)));
  return Buffer.concat(parts);
}

export const nameExtension = (...names: string[]): Buffer =>
  extension(
    0,
    sized(
      2,
      Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))]))),
    ),
  );

export const extension = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), sized(2, content)]);

/** A hello with just these extensions. */
export const helloWith = (...extensions: Buffer[]): Buffer => helloAnd(Buffer.alloc(0), ...extensions);

/** The same with something more in it. */
export function helloAnd(more: Buffer, ...extensions: Buffer[]): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    sized(1, Buffer.alloc(32, 9)),
    sized(2, Buffer.from([0x13, 0x01])),
    sized(1, Buffer.from([0])),
    sized(2, Buffer.concat(extensions)),
    more,
  ]);
  return record(Buffer.concat([Buffer.from([1]), sized(3, body)]));
}
