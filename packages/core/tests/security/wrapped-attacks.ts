/** What the runner tells of the host; a row picks from it what its script is told. */
export interface Host {
  /** The script root, with a link that leads out of it and a pipe. */
  scripts: string;
  toolsFolder: string;
  auditFolder: string;
  canaryFile: string;
  secretFiles: string[];
  secretFolders: string[];
  baitFile: string;
  bait: string;
  /** Of a server of the host, and of the MCP server itself. */
  ports: number[];
  udpPort: number;
  unixPath: string;
  abstractName: string;
}

/** What the client got. */
export interface Reply {
  isError: boolean;
  structured: unknown;
  texts: string[];
}

/** One call of a wrapped tool, whose script is in fixtures/wrapped. What must hold after every row is in the runner. */
export interface WrappedAttack {
  name: string;
  tool: string;
  args: (host: Host) => Record<string, unknown>;
  /** A sentence if it came out otherwise than it should. */
  judge: (reply: Reply) => string | undefined;
}

const same = (wanted: unknown) => (reply: Reply) =>
  !reply.isError && JSON.stringify(reply.structured) === JSON.stringify(wanted)
    ? undefined
    : JSON.stringify(reply).slice(0, 1500);

/** The script tells what it reached. */
const reachedNothing = same({ result: [] });
const isRefused = (reply: Reply) =>
  reply.isError && !JSON.stringify(reply.structured ?? null).includes('FORGED')
    ? undefined
    : JSON.stringify(reply).slice(0, 1500);
const saysWhy = (reason: RegExp) => (reply: Reply) =>
  isRefused(reply) ??
  (reason.test(reply.texts.join('\n')) ? undefined : reply.texts.join('\n').slice(0, 1500));

/** From whatever folder the call runs in. */
const upwards = (path: string) => `${'../../../../tests/'.repeat(30)}${path.slice(1)}`;

const STOLEN: WrappedAttack[] = [
  {
    name: 'reads files and folders of the host',
    tool: 'read_files',
    args: ({ secretFiles, secretFolders }) => ({ paths: secretFiles, folders: secretFolders }),
    judge: reachedNothing,
  },
  {
    name: 'writes to files of the host',
    tool: 'write_files',
    args: ({ baitFile, canaryFile, bait }) => ({
      paths: [baitFile, canaryFile, `${bait}/new`],
    }),
    judge: reachedNothing,
  },
  {
    name: "tells the server's environment and command line",
    tool: 'tell_surroundings',
    args: () => ({}),
    judge: ({ isError, texts }) => (isError ? texts.join('\n') : undefined),
  },
  {
    name: 'calls servers of the host, and the MCP server itself',
    tool: 'call_out',
    args: ({ ports, udpPort, unixPath, abstractName }) => ({
      ports,
      udp: udpPort,
      unix: unixPath,
      abstract: abstractName,
    }),
    judge: reachedNothing,
  },
  {
    name: 'reads and imports other scripts of the tools folder',
    tool: 'find_neighbours',
    args: ({ toolsFolder }) => ({ folder: toolsFolder }),
    judge: reachedNothing,
  },
  {
    name: 'reads the audit trail',
    tool: 'read_files',
    args: ({ auditFolder }) => ({
      paths: [`${auditFolder}/audit.db`, `${auditFolder}/keys/signing.pem`],
      folders: [auditFolder],
    }),
    judge: reachedNothing,
  },
  {
    name: 'writes to the audit trail',
    tool: 'write_files',
    args: ({ auditFolder }) => ({ paths: [`${auditFolder}/audit.db`, `${auditFolder}/new`] }),
    judge: reachedNothing,
  },
];

const LASTING: WrappedAttack[] = [
  {
    name: 'leaves a process behind that outlives its call',
    tool: 'linger',
    args: ({ baitFile }) => ({ path: baitFile, waits: false }),
    judge: ({ isError, texts }) => (isError ? texts.join('\n') : undefined),
  },
  {
    name: 'leaves a process behind and kills its own',
    tool: 'linger',
    args: ({ baitFile }) => ({ path: baitFile, waits: true }),
    judge: saysWhy(/SIGKILL/),
  },
  {
    name: 'writes into its sibling module, its own file and whatever the next call may load',
    tool: 'change',
    args: ({ toolsFolder }) => ({ folder: toolsFolder }),
    judge: () => undefined, // with json.dumps replaced, it may well fail; the next call is what counts
  },
];

const TRAVERSALS: WrappedAttack[] = [
  ['with a name that leads upwards', ({ canaryFile }: Host) => upwards(canaryFile)],
  ['with an absolute name', ({ canaryFile }: Host) => canaryFile],
  ['with a name in /proc that leads to the host', ({ canaryFile }: Host) => `/proc/1/root${canaryFile}`],
  ['with a zero in its name', ({ canaryFile }: Host) => `x\0/../${upwards(canaryFile)}`],
].flatMap(([how, name]) => [
  {
    name: `reads a file of the host ${how}, by a function`,
    tool: 'read_report',
    args: (host: Host) => ({ name: (name as (host: Host) => string)(host) }),
    judge: saysWhy(/FileNotFoundError|PermissionError|embedded null|INVALID_INPUT/),
  },
  {
    name: `reads a file of the host ${how}, by a command line`,
    tool: 'show',
    args: (host: Host) => ({ path: (name as (host: Host) => string)(host) }),
    judge: saysWhy(/FileNotFoundError|PermissionError|null|INVALID_INPUT/),
  },
]);

const ARGUMENTS: WrappedAttack[] = [
  ...TRAVERSALS,
  {
    name: 'writes a file of the host with a name that leads upwards',
    tool: 'save_report',
    args: ({ baitFile }) => ({ name: upwards(baitFile), text: 'touched' }),
    judge: saysWhy(/FileNotFoundError|PermissionError|OSError/),
  },
  {
    name: 'says an option where a word is wanted',
    tool: 'show',
    args: () => ({ path: '--help' }),
    judge: saysWhy(/No such file or directory: '--help'/),
  },
  {
    name: 'gives arguments that no parameter has',
    tool: 'read_report',
    args: () => ({ name: 'x', __class__: 'y', self: 1, '__proto__ ': {} }),
    judge: saysWhy(/INVALID_INPUT[\s\S]*__class__: is not known/),
  },
];

/** Files that the server reads for a caller, or writes for the call. */
const PATHS: WrappedAttack[] = [
  ...[
    ['that leads upwards', ({ canaryFile }: Host) => upwards(canaryFile)],
    ['that is absolute', ({ canaryFile }: Host) => canaryFile],
    ['of a link out of the root', () => 'link-out.py'],
    ['of a link out of the root, absolute', ({ scripts }: Host) => `${scripts}/link-out.py`],
    ['below the root and up again', ({ scripts }: Host) => `${scripts}/../canary.txt`],
    ['in /proc of the server', () => '/proc/self/environ'],
    ['of a pipe, which has no end', () => 'pipe.py'],
    ['of a device, which has no end', () => '/dev/zero'],
    ['with a zero in it', ({ canaryFile }: Host) => `${canaryFile}\0.csv`],
  ].map(([how, path]) => ({
    name: `has the server read a path ${how}`,
    tool: 'read_path',
    args: (host: Host) => ({ path: (path as (host: Host) => string)(host) }),
    judge: (reply: Reply) =>
      JSON.stringify(reply).includes('SERVER_SECRET') ? 'it read the server' : undefined,
  })),
  ...['../../../x', '/tmp/x', '..', 'a/../../x', 'a\0b', ''].map((name) => ({
    name: `gives a file the name ${JSON.stringify(name)}`,
    tool: 'read_path',
    args: () => ({ path: { name, text: 'x' } }),
    judge: saysWhy(/INVALID_INPUT[\s\S]*path: /),
  })),
  ...['json.py', 'changer_rates.py', 'sitecustomize.py', 'paths.py', '__init__.py', 'os.pth'].map((name) => ({
    name: `gives a file the name ${name}, so that the script imports it`,
    tool: 'read_path',
    args: () => ({ path: { name, text: 'raise SystemExit("FORGED")' } }),
    judge: same({ result: 'raise SystemExit("FORGED")' }),
  })),
];

const FORGED: WrappedAttack[] = [
  {
    name: 'claims a result on every descriptor, and returns another',
    tool: 'forge',
    args: () => ({ ending: 'return' }),
    // What it wrote may well have spoiled its own report; that is its own loss.
    judge: (reply) => (reply.isError ? isRefused(reply) : same({ result: 7 })(reply)),
  },
  {
    name: 'claims a result on every descriptor, and fails',
    tool: 'forge',
    args: () => ({ ending: 'fail' }),
    judge: isRefused,
  },
  {
    name: 'claims a result on every descriptor, and is gone',
    tool: 'forge',
    args: () => ({ ending: 'exit' }),
    judge: isRefused,
  },
  {
    name: 'returns what looks like the frame around a result',
    tool: 'pose',
    args: () => ({}),
    judge: ({ isError, structured }) =>
      !isError && (structured as { resultType?: string })?.resultType === 'input_required'
        ? undefined
        : JSON.stringify(structured),
  },
];

export const WRAPPED_ATTACKS: readonly WrappedAttack[] = [
  ...STOLEN,
  ...LASTING,
  ...ARGUMENTS,
  ...PATHS,
  ...FORGED,
];
