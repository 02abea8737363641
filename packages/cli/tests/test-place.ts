import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../../../tests/support/places.js';
import { type Ended, pungi, type Running, type Setting, start } from './pungi.js';

/** A small server that does what it should, and two things that it should not. */
export const SHOP = resolve(import.meta.dirname, '../../../tests/fixtures/servers/shop.mjs');

export const SPEC = `
name: shop
server:
  command: node
  args: [${JSON.stringify(SHOP)}]
  shutdown_timeout_seconds: 2
`;

/** A folder for each test, in which `pungi test` is run. */
export function testPlaces(): () => Place {
  const root = temporaryFolder();
  let count = 0;
  return () => {
    count += 1;
    const folder = join(root, `${count}`);
    mkdirSync(folder);
    return new Place(folder);
  };
}

export class Place {
  constructor(readonly folder: string) {}

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  run(args: string[], setting: Setting & { input?: string } = {}): Promise<Ended> {
    return pungi(['test', ...args], { cwd: this.folder, ...setting });
  }

  start(args: string[], setting: Setting = {}): Running {
    return start(['test', ...args], { cwd: this.folder, ...setting });
  }
}
