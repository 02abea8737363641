import { readFileSync } from 'node:fs';

/** No system assigns it. */
const UNASSIGNED = 1_900_000_000;

/**
 * The user id of foreign code in a server started as root: it never runs as root. In a user namespace, such as a
 * rootless container, only some ids exist: there it is the last of them.
 */
export const SANDBOX_UID = sandboxUid(idMap('uid_map'), idMap('gid_map'));

/** `maps`: the text of /proc/self/uid_map and gid_map, empty if there is none. */
export function sandboxUid(...maps: string[]): number {
  const lasts = maps.filter((map) => map.trim() !== '').map(lastId);
  const last = Math.min(UNASSIGNED, ...lasts);
  return last > 0 ? last : UNASSIGNED;
}

function lastId(map: string): number {
  const ranges = map.trim().split('\n');
  const ends = ranges.map((line) => line.trim().split(/\s+/).map(Number));
  return Math.max(...ends.map(([first = 0, , count = 0]) => first + count - 1));
}

function idMap(name: string): string {
  try {
    return readFileSync(`/proc/self/${name}`, 'utf8');
  } catch {
    return '';
  }
}
