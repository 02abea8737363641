import { jetstreamManager, type MsgRequest } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Reads an object one part after the other: a worker may not use consumers (setup/permissions.ts). */
export async function* partsOf(
  connection: NatsConnection,
  bucket: string,
  nuid: string,
): AsyncGenerator<Uint8Array> {
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  const parts = `$O.${bucket}.C.${nuid}`;
  for (let seq = 1; ; ) {
    const part = await streams.getMessage(`OBJ_${bucket}`, { seq, next_by_subj: parts } as MsgRequest);
    if (part === null) return;
    yield part.data;
    seq = part.seq + 1;
  }
}
