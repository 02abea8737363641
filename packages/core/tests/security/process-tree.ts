import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** Every process below `root` that is alive; one that only waits to be collected is not. */
export function descendantsOf(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(name));
  const found: Process[] = [];
  for (let parents = new Set([root]); parents.size > 0; ) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

function readProcess(name: string): Process[] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'latin1');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const command = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
    return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
  } catch {
    return []; // it ended while we looked
  }
}
