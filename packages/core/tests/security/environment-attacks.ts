import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { py } from '../../../../tests/support/python.js';
import { codeOf, type EnvironmentAttack, told } from './environment-attack.js';
import { LOCK_FILE_ATTACKS } from './environment-attacks-by-lock-file.js';
import { LOADING_ATTACKS } from './environment-attacks-loading.js';
import { PLANTED_ATTACKS } from './environment-attacks-planted.js';

export const PACKAGES_OF_MINE = ['banana', 'pthed'];

const NAMES: [why: string, name: string][] = [
  ['the parent folder', '..'],
  ['a path upwards', '../outside'],
  ['an absolute path', '/etc'],
  ['a path below', 'a/b'],
  ['a Windows path', 'a\\b'],
  ['an option', '-rf'],
  ['a long option', '--help'],
  ['a hidden folder', '.locks'],
  ['nothing', ''],
  ['a NUL character', 'a\0b'],
  ['a newline', 'a\nb'],
  ['a device', 'con'],
  ['a device in other letters', 'LpT1'],
  ['letters that look alike', 'minе'],
  ['a name that is too long', 'a'.repeat(65)],
  ['a shell command', '$(id)'],
  ['what Pungi keeps for itself', 'inline-0123456789abcdef0123'],
];

const PACKAGES: [why: string, text: string][] = [
  ['an option', '--index-url=http://127.0.0.1:1/'],
  ['a short option', '-r/etc/passwd'],
  ['an option behind a space', 'apple --pre'],
  ['an option behind a line', 'apple\n--index-url http://127.0.0.1:1/'],
  ['a requirements file', '@/etc/passwd'],
  ['an address', 'https://127.0.0.1:1/x-1.0-py3-none-any.whl'],
  ['a named address', 'x @ https://127.0.0.1:1/x-1.0-py3-none-any.whl'],
  ['a repository', 'x @ git+https://127.0.0.1:1/x'],
  ['a local path', './x'],
  ['a named local path', 'x @ file:///etc/passwd'],
  ['a wheel beside', 'x-1.0-py3-none-any.whl'],
  ['a shell command', 'apple; touch /tmp/owned'],
  ['a substitution', 'apple$(touch /tmp/owned)'],
  ['a pipe', 'apple|sh'],
  ['a comment', 'apple # more'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as uv would fill it in
  ['a variable', 'x @ ${HOME}'],
  ['a NUL character', 'apple\0'],
  ['an editable', '-e .'],
];

/** Each of them is refused whole, or does no harm; what harm would be is looked at after every row. */
const WHEELS: [why: string, name: string, expect: string | RegExp][] = [
  ['whose file is not what its hash says', 'badhash', 'PACKAGE_INSTALLATION_ERROR'],
  ['that is cut off', 'broken-wheel', 'PACKAGE_INSTALLATION_ERROR'],
  ['that replaces the interpreter', 'hijack', 'PACKAGE_INSTALLATION_ERROR'],
  ['that has a command named python3', 'own-python', 'PACKAGE_INSTALLATION_ERROR'],
  ['that replaces the configuration', 'rehome', 'PACKAGE_INSTALLATION_ERROR'],
  ['that unpacks above its folder', 'traversal', /^(PACKAGE_INSTALLATION_ERROR|installed)$/],
  ['that claims files of others', 'claimant', /^(PACKAGE_INSTALLATION_ERROR|installed)$/],
  ['that there is none of, but a source that runs code', 'evilsource', 'PACKAGE_INSTALLATION_ERROR'],
  ['that needs a source by its address', 'lure', 'PACKAGE_INSTALLATION_ERROR'],
  ['that needs a wheel by its address', 'lure-wheel', 'PACKAGE_INSTALLATION_ERROR'],
];

/** Tries in the sandbox; prints what was possible. */
const reach = (tries: string) => py`
  import os, sys
  done = []
  def attempt(what, action):
      try:
          action()
          done.append(what)
      except (OSError, LookupError):
          pass
  site = next(path for path in sys.path if path.endswith("site-packages"))
  venv = sys.prefix
  folder = os.path.dirname(venv)
  base = os.path.dirname(folder)
  ${tries}
  print("reached", done) if done else print("held")
`;

const CODE: [why: string, tries: string][] = [
  ['a write into its packages', `attempt("write", lambda: open(os.path.join(site, "banana.py"), "a"))`],
  ['a new module among its packages', `attempt("new", lambda: open(os.path.join(site, "new.py"), "w"))`],
  ['a new .pth file for later', `attempt("pth", lambda: open(os.path.join(site, "x.pth"), "w"))`],
  [
    'changed bytecode',
    `attempt("pyc", lambda: open(os.path.join(site, "__pycache__", os.listdir(os.path.join(site, "__pycache__"))[0]), "wb"))`,
  ],
  ['another interpreter', `attempt("python", lambda: (os.unlink(os.path.join(venv, "bin", "python"))))`],
  ['its metadata', `attempt("metadata", lambda: open(os.path.join(folder, "pungi.json")))`],
  [
    'the names of other environments',
    `attempt("list", lambda: [name for name in os.listdir(base) if name != "mine"][0])`,
  ],
  ['another environment', `attempt("other", lambda: os.listdir(os.path.join(base, "other")))`],
  ['the shared cache', `attempt("cache", lambda: os.listdir(os.path.join(base, ".cache")))`],
  ['a file into the shared cache', `attempt("cache", lambda: open(os.path.join(base, ".cache", "x"), "w"))`],
  ['the locks', `attempt("locks", lambda: os.listdir(os.path.join(base, ".locks")))`],
  ['the lock of its changes', `attempt("change", lambda: open(os.path.join(base, ".locks", "mine.change")))`],
  ['the lease on its generation', `attempt("lease", lambda: open(venv + ".lock"))`],
  [
    'an open file of the lease',
    `attempt("open lease", lambda: [one for fd in os.listdir("/proc/self/fd") for one in [os.readlink("/proc/self/fd/" + fd)] if one.endswith((".lock", ".runs"))][0])`,
  ],
  [
    'a hard link to its packages',
    `attempt("link", lambda: open((os.link(os.path.join(site, "banana.py"), "here.py"), "here.py")[1], "a"))`,
  ],
  [
    'other permissions of its packages',
    `attempt("chmod", lambda: (os.chmod(os.path.join(site, "banana.py"), 0o777), open(os.path.join(site, "banana.py"), "a")))`,
  ],
];

export const ENVIRONMENT_ATTACKS: EnvironmentAttack[] = [
  ...NAMES.flatMap(([why, name]): EnvironmentAttack[] => [
    {
      name: `making an environment named like ${why}`,
      attempt: ({ pungi }) => codeOf(pungi.environments.create({ venvName: name })),
      expect: 'INVALID_INPUT',
    },
    {
      name: `running in an environment named like ${why}`,
      attempt: async ({ pungi }) => told(await pungi.run({ code: 'print("ran")', venvName: name })),
      expect: /^(INVALID_INPUT|ENVIRONMENT_NOT_FOUND)$/,
    },
    {
      name: `deleting an environment named like ${why}`,
      attempt: ({ pungi }) =>
        codeOf(pungi.environments.delete({ venvName: name, confirm: true, confirmDefault: true })),
      expect: /^(INVALID_INPUT|ENVIRONMENT_NOT_FOUND)$/,
    },
    {
      name: `cloning to a name like ${why}`,
      attempt: ({ pungi }) => codeOf(pungi.environments.clone({ from: 'mine', to: name })),
      expect: 'INVALID_INPUT',
    },
  ]),
  ...PACKAGES.flatMap(([why, text]): EnvironmentAttack[] => [
    {
      name: `installing ${why} as a package`,
      attempt: ({ pungi }) => codeOf(pungi.environments.install('mine', [text])),
      expect: 'INVALID_INPUT',
    },
    {
      name: `removing ${why} as a package`,
      attempt: ({ pungi }) => codeOf(pungi.environments.uninstall('mine', [text])),
      expect: 'INVALID_INPUT',
    },
    {
      name: `a script that depends on ${why}`,
      attempt: async ({ pungi }) =>
        told(await pungi.run({ code: `# /// script\n# dependencies = [${JSON.stringify(text)}]\n# ///\n` })),
      expect: 'INVALID_INPUT',
    },
  ]),
  ...WHEELS.map(
    ([why, name, expect]): EnvironmentAttack => ({
      name: `a wheel ${why}`,
      attempt: ({ pungi }) => codeOf(pungi.environments.install('mine', [name])),
      expect,
    }),
  ),
  {
    name: 'removing a wheel that claims files of others',
    attempt: ({ pungi }) => codeOf(pungi.environments.uninstall('mine', ['claimant'])),
    expect: /^(installed|INVALID_INPUT)$/,
  },
  ...CODE.map(
    ([why, tries]): EnvironmentAttack => ({
      name: `code in an environment that reaches for ${why}`,
      attempt: async ({ pungi }) => told(await pungi.run({ code: reach(tries), venvName: 'mine' })),
      expect: 'held',
    }),
  ),
  {
    name: 'code of a .pth file, at every later change',
    attempt: async ({ pungi, base }) => {
      await pungi.environments.install('mine', ['apple']);
      await pungi.environments.export('mine');
      await pungi.environments.uninstall('mine', ['apple']).catch(() => {});
      const files = readdirSync(base, { recursive: true, encoding: 'utf8' });
      return files.some((file) => file.endsWith('pthed-was-here')) ? 'ran outside' : 'held';
    },
    expect: 'held',
  },
  ...LOADING_ATTACKS,
  ...LOCK_FILE_ATTACKS,
  ...PLANTED_ATTACKS,
  {
    name: 'an environment that is a link to a folder elsewhere',
    attempt: async ({ pungi, base }) => {
      const elsewhere = join(base, '.cache', 'elsewhere');
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, 'pungi.json'), '{}');
      symlinkSync(elsewhere, join(base, 'linked'));
      const refused = await codeOf(pungi.environments.delete({ venvName: 'linked', confirm: true }));
      if (refused !== 'ENVIRONMENT_NOT_FOUND') return refused;
      return existsSync(join(elsewhere, 'pungi.json')) ? 'held' : 'emptied the other folder';
    },
    expect: 'held',
  },
  {
    name: 'a lock that is a link to a file elsewhere',
    attempt: async ({ pungi, base }) => {
      writeFileSync(join(base, '.cache', 'precious'), 'kept');
      symlinkSync(join(base, '.cache', 'precious'), join(base, '.locks', 'trapped.change'));
      return codeOf(pungi.environments.create({ venvName: 'trapped' }));
    },
    expect: /^(?!installed)/,
  },
];
