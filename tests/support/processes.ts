import { readdirSync, readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same number. */
export interface KnownProcess {
  pid: number;
  parent: number;
  started: string;
  command: string;
}

/** Every process below this one, as the host sees them. Those that only wait to be collected do not count. */
export function descendantsOf(ancestor: number): KnownProcess[] {
  const all = living();
  const found: KnownProcess[] = [];
  const left = [ancestor];
  for (let parent = left.pop(); parent !== undefined; parent = left.pop()) {
    const children = all.filter((process) => process.parent === parent);
    found.push(...children);
    left.push(...children.map(({ pid }) => pid));
  }
  return found;
}

export const isAlive = (known: KnownProcess): boolean => look(known.pid)?.started === known.started;

const living = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => look(Number(name)))
    .filter((process) => process !== undefined);

function look(pid: number): KnownProcess | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const command = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  return { pid, parent: Number(fields[1]), started: fields[19]!, command };
}
