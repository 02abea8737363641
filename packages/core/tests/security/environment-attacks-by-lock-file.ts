import { codeOf, type EnvironmentAttack } from './environment-attack.js';

const HASH = `--hash=sha256:${'0'.repeat(64)}`;

const LOCK_FILES: [why: string, text: string, expect: string][] = [
  ['an option', '--index-url http://127.0.0.1:1/', 'INVALID_INPUT'],
  ['an option behind a package', `apple==1.0 --index-url=http://127.0.0.1:1/ ${HASH}`, 'INVALID_INPUT'],
  ['a package without a hash', 'apple==1.0', 'INVALID_INPUT'],
  ['a weak hash', `apple==1.0 --hash=md5:${'0'.repeat(32)}`, 'INVALID_INPUT'],
  ['another file’s hash', `apple==1.0 ${HASH}`, 'PACKAGE_INSTALLATION_ERROR'],
  ['an address', `x @ https://127.0.0.1:1/x-1.0-py3-none-any.whl ${HASH}`, 'INVALID_INPUT'],
  [
    'an address behind harmless wishes',
    `# pungi: {"requested":["apple"]}\napple @ https://127.0.0.1:1/apple-1.0-py3-none-any.whl ${HASH}`,
    'INVALID_INPUT',
  ],
  ['a repository', `x @ git+https://127.0.0.1:1/x ${HASH}`, 'INVALID_INPUT'],
  ['a file of this machine', `x @ file:///etc/x-1.0-py3-none-any.whl ${HASH}`, 'INVALID_INPUT'],
  ['a path', `./x-1.0-py3-none-any.whl ${HASH}`, 'INVALID_INPUT'],
  ['another file', '-r /etc/passwd', 'INVALID_INPUT'],
  ['a variable', `x @ https://127.0.0.1:1/${'$'}{HOME}/x-1.0-py3-none-any.whl ${HASH}`, 'INVALID_INPUT'],
  ['an option among the wishes', `# pungi: {"requested":["--pre"]}\napple==1.0 ${HASH}`, 'INVALID_INPUT'],
  [
    'an address among the wishes',
    `# pungi: {"requested":["apple @ https://127.0.0.1:1/apple-1.0-py3-none-any.whl"]}\napple==1.0 ${HASH}`,
    'INVALID_INPUT',
  ],
];

export const LOCK_FILE_ATTACKS: EnvironmentAttack[] = LOCK_FILES.flatMap(([why, text, expect]) => [
  {
    name: `importing a lock file with ${why}`,
    attempt: ({ pungi }) => codeOf(pungi.environments.import({ venvName: 'locked', lock: `${text}\n` })),
    expect,
  },
  {
    name: `repeating a run by a lock file with ${why}`,
    attempt: ({ pungi }) => codeOf(pungi.environments.provideLocked(`${text}\n`)),
    expect,
  },
]);
