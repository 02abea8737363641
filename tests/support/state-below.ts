import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A folder and everything below it, a line each, as any change of it would show; reading it is none. */
export function stateBelow(path: string): string[] {
  const state = lstatSync(path);
  const { mode, uid, gid, nlink, mtimeMs, ctimeMs } = state;
  const content = state.isFile()
    ? createHash('sha256').update(readFileSync(path)).digest('hex')
    : state.isSymbolicLink()
      ? readlinkSync(path)
      : '';
  const below = state.isDirectory() ? readdirSync(path).sort() : [];
  const line = JSON.stringify([path, mode, uid, gid, nlink, mtimeMs, ctimeMs, content]);
  return [line, ...below.flatMap((name) => stateBelow(join(path, name)))];
}
