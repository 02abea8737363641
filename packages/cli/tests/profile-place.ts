import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../tests/support/places.js';
import { type Ended, pungi } from './pungi.js';

const PROFILES = `profiles:
  reports:
    description: what the report writer may do
    blocked_imports: [socket, subprocess]
    blocked_builtins: [eval]
    workspace: [{name: sales, path: ./sales}]
    template_vars: {team: reports}
    disclosure: true
  quarterly:
    extends: reports
    limits: {timeout_ms: 5000}
    blocked_imports: [ctypes]
`;

/** A folder with a file of profiles and the data that they name, for the tests of a file. */
export function profilePlace() {
  const folder = temporaryFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  mkdirSync(join(folder, 'sales'));
  write('sales/2026.csv', 'month,units\n1,7\n');
  write('profiles.yaml', PROFILES);
  const call = (args: string[], env: Record<string, string> = {}, input = ''): Promise<Ended> =>
    pungi(args, { cwd: folder, env: { AUDIT_DIR: join(folder, 'audit'), ...env }, input });
  const profile = (...args: string[]) => call(['profile', ...args]);
  return { folder, write, call, profile };
}
