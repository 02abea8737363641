import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const VERSION = 'dist/cluster/src/protocol/version.js';
const NUMBER = /PROTOCOL = (\d+);/;

/** Returns the program of a version whose protocol is one step ahead: this one, with another number. */
export function makeNextVersion(folder: string): string {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const name of ['cli', 'cluster', 'core', 'harness', 'pungi', 'server', 'wrap'])
    cpSync(join(REPOSITORY, 'dist', name), join(folder, 'dist', name), { recursive: true });
  for (const name of ['packages', 'node_modules', 'package.json'])
    symlinkSync(join(REPOSITORY, name), join(folder, name));
  const path = join(folder, VERSION);
  const source = readFileSync(path, 'utf8');
  if (!NUMBER.test(source)) throw new Error(`${VERSION} names no protocol`);
  writeFileSync(
    path,
    source.replace(NUMBER, (_, number: string) => `PROTOCOL = ${Number(number) + 1};`),
  );
  return join(folder, 'dist/cli/src/program.js');
}

/** Node's options for a machine whose clock is wrong by so much. */
export function withWrongClock(hours: number): string {
  const code = `
    const Right = Date, shift = ${hours * 3_600_000};
    globalThis.Date = class Date extends Right {
      constructor(...given) { given.length === 0 ? super(Right.now() + shift) : super(...given); }
      static now() { return Right.now() + shift; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}
