import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pungi } from '../../src/pungi.js';
import { codeOf, type EnvironmentAttack, type Ground } from './environment-attack.js';

/** A folder with a whole environment, as somebody else on the machine could offer it. */
async function plant(
  { pungi, base }: Ground,
  prepare: (folder: string) => string,
  attempt: (own: Pungi) => Promise<string>,
): Promise<string> {
  const folder = mkdtempSync(join(dirname(base), 'planted-'));
  try {
    chmodSync(folder, 0o755);
    cpSync(join(base, 'mine'), join(folder, 'mine'), { recursive: true, verbatimSymlinks: true });
    const own = Pungi.start({ ...pungi.config, venvsBasePath: prepare(folder) });
    return await attempt(own).finally(() => own.close());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PLANTS: [why: string, prepare: (folder: string) => string][] = [
  ['a folder that everybody can write to', (folder) => opened(folder, 0o777)],
  ['a sticky folder that everybody can write to', (folder) => opened(folder, 0o1777)],
  ['a folder that a group can write to', (folder) => opened(folder, 0o775)],
  [
    'a link to a folder that everybody can write to',
    (folder) => {
      opened(folder, 0o777);
      symlinkSync(folder, join(folder, 'link'));
      return join(folder, 'link');
    },
  ],
];

function opened(folder: string, mode: number): string {
  chmodSync(folder, mode);
  return folder;
}

async function run(own: Pungi): Promise<string> {
  const { verdict, stdout } = await own.run({ code: 'print("ran")', venvName: 'mine' });
  return 'message' in verdict ? verdict.message : stdout.text;
}

const REFUSED = /can be changed by other users, so nothing in it is run/;

export const PLANTED_ATTACKS: EnvironmentAttack[] = [
  {
    name: 'an environment in a folder of its owner, for comparison',
    attempt: (ground) => plant(ground, (folder) => folder, run),
    expect: 'ran\n',
  },
  ...PLANTS.flatMap(([why, prepare]): EnvironmentAttack[] => [
    {
      name: `running in an environment of ${why}`,
      attempt: (ground) => plant(ground, prepare, run),
      expect: REFUSED,
    },
    {
      name: `making an environment in ${why}`,
      attempt: (ground) =>
        plant(ground, prepare, (own) => codeOf(own.environments.create({ venvName: 'fresh' }))),
      expect: 'CONFIGURATION_ERROR',
    },
  ]),
  {
    name: 'running in an environment whose own folder everybody can write to',
    attempt: (ground) =>
      plant(
        ground,
        (folder) => {
          opened(join(folder, 'mine'), 0o777);
          return folder;
        },
        run,
      ),
    expect: REFUSED,
  },
];
