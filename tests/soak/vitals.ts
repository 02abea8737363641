import { readdirSync, readFileSync } from 'node:fs';
import { descendantsOf } from '../support/processes.js';

/** What a server holds, as the kernel sees it: whatever grows here with the number of runs is a leak. */
export interface Vitals {
  /** Resident memory. */
  residentMb: number;
  openFiles: number;
  processes: number;
  /** Everything below its folder for temporary files. */
  temporaryFiles: string[];
  forkServer: { pid: number; residentMb: number; openFiles: number; zombies: number };
}

export function vitalsOf(server: number, temporaryFolder: string): Vitals {
  const forkServer = forkServerOf(server);
  return {
    residentMb: residentMb(server, 'VmRSS'),
    openFiles: openFiles(server),
    processes: descendantsOf(server).length,
    temporaryFiles: (readdirSync(temporaryFolder, { recursive: true }) as string[]).sort(),
    forkServer: {
      pid: forkServer,
      // What it shares with its children is its own all the same; what it has mapped from files is not.
      residentMb: residentMb(forkServer, 'RssAnon'),
      openFiles: openFiles(forkServer),
      zombies: childrenOf(forkServer).filter((pid) => stateOf(pid) === 'Z').length,
    },
  };
}

/** The process below the server that has the workers' supervisors for children. */
function forkServerOf(server: number): number {
  const tree = descendantsOf(server);
  const parents = tree.map(({ parent }) => parent).filter((parent) => parent !== server);
  const [found] = [...new Set(parents)]
    .map((pid) => ({ pid, children: tree.filter(({ parent }) => parent === pid).length }))
    .sort((a, b) => b.children - a.children);
  if (found === undefined) throw new Error('there is no fork server');
  return found.pid;
}

const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

function residentMb(pid: number, field: 'VmRSS' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

function stateOf(pid: number): string | undefined {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
