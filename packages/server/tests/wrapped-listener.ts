import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Tool } from '@modelcontextprotocol/client';
import { lastingFolder } from '../../../tests/support/places.js';
import { textsOf } from './calls.js';
import { DOORS, type Era, type Settings } from './doors.js';

export interface Listener {
  client: Client;
  /** The tools of the latest list that the client fetched because it was told of a change. */
  heard(): Tool[] | undefined;
  close(): Promise<void>;
}

/** Clients that fetch the list again whenever the server says that it has changed. */
const listenThrough =
  ({ connect }: (typeof DOORS)[number]) =>
  async (era: Era, settings: Settings, flags: string[] = []): Promise<Listener> => {
    let latest: Tool[] | undefined;
    const onChanged = (_: unknown, tools: Tool[] | null) => {
      latest = tools ?? latest;
    };
    const options = { listChanged: { tools: { onChanged } } };
    const { client, close } = await connect(era, settings, { flags, options });
    return { client, heard: () => latest, close };
  };

export const LISTENERS = DOORS.map((door) => ({
  era: door.era,
  transport: door.transport,
  listen: listenThrough(door),
}));
export const listenOverStdio = listenThrough(DOORS[0]);
export const listenOverHttp = listenThrough(DOORS[2]);

const base = lastingFolder();
export function emptyFolder(): string {
  const folder = join(mkdtempSync(join(base, 'x')), 'tools');
  mkdirSync(folder);
  return folder;
}

/** A script of one function. */
export const one = (name: string, result: string) =>
  `def ${name}() -> str:\n    """Say."""\n    return "${result}"\n`;

export const says = async ({ client }: Listener, name: string) => textsOf(await client.callTool({ name }))[0];
