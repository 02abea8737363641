import type { Attack } from '../attack.js';

/** What a request must not get, before any Python runs. $SCRIPTS is the runner's script root. */
export const REQUESTS: Attack[] = [
  {
    name: 'asks for a file outside the work folder to be written',
    code: 'print(1)',
    bare: true,
    request: { files: [{ path: '../escaped.txt', text: 'x' }] },
    expect: { verdict: 'invalid' },
  },
  {
    name: 'asks for an absolute file to be written',
    code: 'print(1)',
    bare: true,
    request: { files: [{ path: '/tmp/pungi-escaped.txt', text: 'x' }] },
    expect: { verdict: 'invalid' },
  },
  {
    name: 'asks for a file below another file',
    code: 'print(1)',
    bare: true,
    request: {
      files: [
        { path: 'a', text: 'x' },
        { path: 'a/b', text: 'x' },
      ],
    },
    expect: { verdict: 'invalid' },
  },
  {
    name: 'asks for more files than the disk may hold',
    code: 'print(1)',
    bare: true,
    limits: { diskMb: 1 },
    request: { files: [{ path: 'big', text: 'x'.repeat(3_000_000) }] },
    expect: { verdict: ['disk-exceeded', 'invalid'] },
  },
  {
    name: 'asks for more input than the disk may hold',
    code: 'import sys\nprint(len(sys.stdin.read()))\n',
    bare: true,
    limits: { diskMb: 1 },
    request: { stdin: 'x'.repeat(3_000_000) },
    expect: { verdict: ['ok', 'disk-exceeded', 'invalid'] },
  },
  {
    name: 'asks to run a host file',
    code: '',
    bare: true,
    request: { file: '/etc/passwd' },
    expect: { verdict: ['denied', 'invalid'] },
  },
  {
    name: 'asks to run a file outside the script root, through ..',
    code: '',
    bare: true,
    request: { file: '$SCRIPTS/../canary.txt' },
    expect: { verdict: ['denied', 'invalid'] },
  },
  {
    name: 'asks to run a file outside the script root, through a link',
    code: '',
    bare: true,
    request: { file: '$SCRIPTS/link-out.py' },
    expect: { verdict: ['denied', 'invalid'] },
  },
  {
    name: 'asks to run a FIFO, which would block the server',
    code: '',
    bare: true,
    request: { file: '$SCRIPTS/pipe.py' },
    expect: { verdict: ['denied', 'invalid'] },
  },
  {
    name: 'asks for environment variables that steer the loader',
    code: 'print(1)',
    bare: true,
    request: { env: { LD_PRELOAD: '/tmp/x.so', PYTHONPATH: '/tmp' } },
    expect: { verdict: ['denied', 'invalid'] },
  },
];
