import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { PYTHON_HALF } from '../../src/sandbox/spawn.js';

const FIND = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from pungi.limits import cgroup_place
try:
    place = cgroup_place.find(int(sys.argv[2]))
    print(json.dumps({"version": place.version, "folder": place.folders["memory"]}))
except cgroup_place.Unavailable as error:
    print(json.dumps({"reason": str(error)}))
`;

export type CgroupsHere = { version: 'v1' | 'v2'; folder: string } | { reason: string };

/** Whether this process could give its runs cgroups, and where. */
export function findCgroups(): CgroupsHere {
  const found = execFileSync('python3', ['-I', '-c', FIND, PYTHON_HALF, String(process.pid)]);
  return JSON.parse(found.toString()) as CgroupsHere;
}

/** The cgroups of a server that are there now. */
export const cgroupsOf = (pid: number, folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith(`pungi-${pid}-`));
