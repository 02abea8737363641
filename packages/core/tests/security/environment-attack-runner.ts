/**
 * Plays every attack on environments, in one tier as one user, and prints what came of each.
 * The test bundles it, so that a user who cannot read the repository can run it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Config } from '../../src/config/schema.js';
import { Pungi } from '../../src/pungi.js';
import type { AttackTier } from './attack.js';
import { ENVIRONMENT_ATTACKS, PACKAGES_OF_MINE } from './environment-attacks.js';
import { exitWhenRead } from './exit.js';

export interface EnvironmentTableRun {
  tier: AttackTier;
  python: string;
  uv: string;
  base: string;
  index: Record<string, string>;
}

export interface EnvironmentRowResult {
  name: string;
  result: string;
  problems: string[];
}

const { tier, python, uv, base, index } = JSON.parse(await text(process.stdin)) as EnvironmentTableRun;
Object.assign(process.env, index);
const pungi = Pungi.start(
  Config.parse({
    tier,
    python,
    uv,
    venvsBasePath: base,
    artifactDir: `${base}-artifacts`,
    poolSize: 1,
    audit: false,
  }),
);
await pungi.environments.create({ venvName: 'mine', packages: PACKAGES_OF_MINE });
await pungi.environments.create({ venvName: 'other', packages: ['apple==1.0'] });

for (const { name, attempt } of ENVIRONMENT_ATTACKS) {
  const result = await attempt({ pungi, base }).catch((error: Error) => `threw ${error.stack}`);
  const row: EnvironmentRowResult = { name, result, problems: await lookAround() };
  process.stdout.write(`${JSON.stringify(row)}\n`);
}
await pungi.close();
exitWhenRead();

/** What must be so after every row. */
async function lookAround(): Promise<string[]> {
  const problems: string[] = [];
  for (const [venvName, code, expected] of [
    ['mine', 'import banana, pthed; print("whole")', 'whole\n'],
    ['other', 'import apple; print(apple.__version__)', '1.0\n'],
  ] as const) {
    const { verdict, stdout } = await pungi.run({ code, venvName });
    if (verdict.kind !== 'ok' || stdout.text !== expected) problems.push(`${venvName} is not as it was`);
  }
  const entries = readdirSync(base).filter((entry) => !entry.startsWith('.'));
  const strange = entries.filter((entry) => !['mine', 'other', 'linked'].includes(entry));
  if (strange.length > 0) problems.push(`there is ${strange.join(', ')}`);
  for (const file of ['escaped.py', 'claimed.txt', '../escaped.py', '../claimed.txt']) {
    if (existsSync(join(base, file))) problems.push(`${file} was written`);
  }
  if (existsSync(join(process.env['HOME'] ?? '/', 'evilsource-was-here')))
    problems.push('a source was built');
  const files = filesBelow(base);
  if (files.some((file) => /(hijack|pthed)-was-here$/.test(file))) problems.push('foreign code ran outside');
  return problems;
}

/** What is thrown away is removed in the background: a look that met it is taken again. */
function filesBelow(folder: string): string[] {
  for (;;) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
