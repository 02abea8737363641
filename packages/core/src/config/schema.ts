import { z } from 'zod';
import { DEFAULT_LIMITS } from '../contract/limits.js';
import { TIERS } from '../contract/outcome.js';

export const REPLY_DETAILS = ['short', 'full'] as const;

/** Groups of tools that can be served alone. */
export const TOOLSETS = [
  'run',
  'packages',
  'environments',
  'sessions',
  'files',
  'strategic',
  'analysis',
  'wrap',
  'health',
] as const;
export type Toolset = (typeof TOOLSETS)[number];

/** Accepts a string from the environment or a flag, or a number from the configuration file. */
const wholeNumber = z.union([
  z.number('must be a whole number'),
  z
    .string('must be a whole number')
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number),
]);

const count = (minimum: number, maximum = 2 ** 31 - 1) =>
  wholeNumber.pipe(
    z
      .number()
      .int('must be a whole number')
      .min(minimum, `must be at least ${minimum}`)
      .max(maximum, `must be at most ${maximum}`),
  );

const TRUE_OR_FALSE = 'must be one of true, false, 1, 0';
const flag = z.union([
  z.boolean(TRUE_OR_FALSE),
  z.enum(['true', 'false', '1', '0'], TRUE_OR_FALSE).transform((text) => text === 'true' || text === '1'),
]);

const list = (separator: RegExp) =>
  z.union([
    z.array(z.string(), 'must be a list'),
    z.string('must be a list').transform((text) => text.split(separator).filter((item) => item !== '')),
  ]);

const option = <T extends z.ZodType>(env: string, schema: T, about: string) => ({ env, schema, about });

/**
 * Every setting: its variable, schema, default and meaning. A test checks the table in docs/configuration.md against
 * it.
 */
export const OPTIONS = {
  maxMemoryMb: option(
    'MAX_MEMORY_MB',
    count(16).default(DEFAULT_LIMITS.memoryMb),
    'memory of a run that asks for none, in MB',
  ),
  maxRequestMemoryMb: option(
    'MAX_REQUEST_MEMORY_MB',
    count(16).optional(),
    'the most memory that a request may ask for; a quarter of the machine if not set',
  ),
  maxTotalMemoryMb: option(
    'MAX_TOTAL_MEMORY_MB',
    count(16).optional(),
    'memory of all runs together, in MB; 80 % of the machine if not set',
  ),
  executionTimeoutMs: option(
    'EXECUTION_TIMEOUT_MS',
    count(1).default(DEFAULT_LIMITS.timeoutMs),
    'wall time of a run that asks for none',
  ),
  maxRequestTimeoutMs: option(
    'MAX_REQUEST_TIMEOUT_MS',
    count(1).default(300_000),
    'the most wall time that a request may ask for; CPU time grows with it',
  ),
  maxConcurrentExecutions: option(
    'MAX_CONCURRENT_EXECUTIONS',
    count(1).default(5),
    'runs at the same time; 256 at a front end of a cluster',
  ),
  maxConcurrentPerClient: option(
    'MAX_CONCURRENT_PER_CLIENT',
    count(1).optional(),
    'runs of one client at the same time; over HTTP all but one if not set',
  ),
  maxQueuedExecutions: option(
    'MAX_QUEUED_EXECUTIONS',
    count(0).default(100),
    'runs that may wait (1000 at a front end of a cluster); beyond it SERVER_BUSY',
  ),
  artifactMb: option(
    'ARTIFACT_MB',
    count(0, 1024).default(32),
    'size of the files that a run may leave for its caller; 0: none are kept',
  ),
  artifactTotalMb: option(
    'ARTIFACT_TOTAL_MB',
    count(1).default(1024),
    'size of all such files; the oldest make room',
  ),
  artifactHours: option('ARTIFACT_HOURS', count(1).default(24), 'hours that such files are kept'),
  artifactDir: option('ARTIFACT_DIR', z.string().min(1).optional(), 'where such files are kept'),
  maxSessions: option(
    'MAX_SESSIONS',
    count(0).default(16),
    'sessions of all callers together; in a cluster, of each front end and of each worker',
  ),
  maxSessionsPerCaller: option('MAX_SESSIONS_PER_CALLER', count(0).default(8), 'sessions of one caller'),
  sessionIdleMs: option(
    'SESSION_IDLE_MS',
    count(1000).default(1_800_000),
    'a session that is not used for so long ends',
  ),
  sessionLifetimeMs: option(
    'SESSION_LIFETIME_MS',
    count(1000).default(86_400_000),
    'the longest time of a session',
  ),
  maxBackgroundRuns: option(
    'MAX_BACKGROUND_RUNS',
    count(0).default(16),
    'background runs of all callers together that have not ended',
  ),
  maxBackgroundPerCaller: option(
    'MAX_BACKGROUND_PER_CALLER',
    count(0).default(8),
    'background runs of one caller that have not ended',
  ),
  maxBackgroundTimeoutMs: option(
    'MAX_BACKGROUND_TIMEOUT_MS',
    count(1).default(3_600_000),
    'the most wall time that a background run may ask for; CPU time grows with it',
  ),
  backgroundHours: option(
    'BACKGROUND_HOURS',
    count(1).default(24),
    'hours that outcomes of background runs are kept',
  ),
  backgroundMb: option(
    'BACKGROUND_MB',
    count(16).default(256),
    'size of all such outcomes; of one caller, half of it',
  ),
  backgroundDir: option('BACKGROUND_DIR', z.string().min(1).optional(), 'where such outcomes are kept'),
  maxCpuMs: option('MAX_CPU_MS', count(1).default(DEFAULT_LIMITS.cpuMs), 'CPU time of one run'),
  maxProcesses: option(
    'MAX_PROCESSES',
    count(1).default(DEFAULT_LIMITS.processes),
    'processes and threads of a run that asks for no number',
  ),
  maxRequestProcesses: option(
    'MAX_REQUEST_PROCESSES',
    count(1).default(512),
    'the most processes and threads that a request may ask for',
  ),
  maxOpenFiles: option(
    'MAX_OPEN_FILES',
    count(16).default(DEFAULT_LIMITS.openFiles),
    'open files of one process',
  ),
  maxDiskMb: option(
    'MAX_DISK_MB',
    count(1).default(DEFAULT_LIMITS.diskMb),
    'work folder, /tmp and /dev/shm of a run that asks for no size',
  ),
  maxRequestDiskMb: option(
    'MAX_REQUEST_DISK_MB',
    count(1).default(1024),
    'the most disk that a request may ask for',
  ),
  maxOutputBytes: option(
    'MAX_OUTPUT_BYTES',
    count(1024).default(DEFAULT_LIMITS.outputBytes),
    'kept of each output stream',
  ),
  maxOutputHardBytes: option(
    'MAX_OUTPUT_HARD_BYTES',
    count(1024).default(DEFAULT_LIMITS.outputHardBytes),
    'output after which a run is ended',
  ),
  replyChars: option(
    'REPLY_CHARS',
    count(2000, 1_000_000).default(20_000),
    'characters of a reply, text and structured content together; read_output shows the rest',
  ),
  replyImageBytes: option(
    'REPLY_IMAGE_BYTES',
    count(0, 8 * 1024 * 1024).default(6 * 1024 * 1024),
    'bytes of pictures and other contents in a reply, as base64',
  ),
  replyDetail: option(
    'REPLY_DETAIL',
    z.enum(REPLY_DETAILS).default('short'),
    'structured content of runs: short, or full for the whole outcome',
  ),
  outputStoreMb: option(
    'OUTPUT_STORE_MB',
    count(0).default(64),
    'memory for outputs that did not fit into their reply, for read_output',
  ),
  outputStoreSeconds: option(
    'OUTPUT_STORE_SECONDS',
    count(1).default(3600),
    'how long such an output can be read',
  ),
  poolSize: option('POOL_SIZE', count(1).default(4), 'workers kept parked for the next runs'),
  preloadModules: option(
    'PRELOAD_MODULES',
    list(/[\s,]+/).default([]),
    'modules imported once, before any run',
  ),
  learnPreloads: option(
    'LEARN_PRELOADS',
    flag.default(true),
    'preload what runs of an environment import, after they have imported it',
  ),
  preloadTimeoutMs: option(
    'PRELOAD_TIMEOUT_MS',
    count(100).default(60_000),
    'time that the packages of an environment have to load, .pth files and preloads together',
  ),
  idleTimeoutMs: option(
    'IDLE_TIMEOUT_MS',
    count(1000).default(600_000),
    'an unused fork server ends after this',
  ),
  allowedEnv: option('ALLOWED_ENV', list(/[\s,]+/).default([]), 'variable names that a request may set'),
  scriptRoots: option(
    'SCRIPT_ROOTS',
    list(/[:\n]/).default([]),
    'folders that execute_python_file and path parameters of wrapped tools may read from',
  ),
  dataRoots: option(
    'DATA_ROOTS',
    list(/[:\n]/).default([]),
    'folders that every run can read, as data/NAME in its work folder',
  ),
  preinstalledPackages: option(
    'PREINSTALLED_PACKAGES',
    list(/\s+/).default([]),
    'packages to install at start',
  ),
  venvsBasePath: option('VENVS_BASE_PATH', z.string().min(1).optional(), 'where environments are kept'),
  defaultVenvName: option(
    'DEFAULT_VENV_NAME',
    z.string().min(1).default('default'),
    'the environment of runs that name none',
  ),
  systemPackages: option(
    'SYSTEM_PACKAGES',
    flag.default(false),
    "let the default environment see the interpreter's own packages",
  ),
  environmentTools: option(
    'ENVIRONMENT_TOOLS',
    flag.default(true),
    'offer clients the tools that change environments',
  ),
  autoInstall: option(
    'AUTO_INSTALL',
    flag.default(false),
    'install what an import does not find, and run once more',
  ),
  packageTimeoutMs: option('PACKAGE_TIMEOUT_MS', count(1).default(300_000), 'wall time of one installation'),
  packageSources: option(
    'PACKAGE_SOURCES',
    list(/[\s,]+/)
      .pipe(z.array(z.enum(['url', 'path', 'sdist'], 'must be of url, path and sdist')))
      .default([]),
    'more than wheels of the index: url, path, sdist',
  ),
  maxEnvironments: option('MAX_ENVIRONMENTS', count(1).default(50), 'environments that may exist'),
  maxEnvironmentMb: option('MAX_ENVIRONMENT_MB', count(1).default(8192), 'size of one environment, in MB'),
  maxWarmEnvironments: option(
    'MAX_WARM_ENVIRONMENTS',
    count(1).default(8),
    'environments whose workers are kept parked',
  ),
  uv: option('PUNGI_UV', z.string().min(1).optional(), 'the uv to install with'),
  toolsDir: option(
    'TOOLS_DIR',
    z.string().min(1).optional(),
    "the folder whose scripts are tools, instead of the user's own; off for none",
  ),
  toolsets: option(
    'TOOLSETS',
    list(/[\s,]+/)
      .pipe(z.array(z.enum(TOOLSETS, `must be of ${TOOLSETS.join(', ')}`)))
      .default([]),
    'serve only these groups of tools, with their prompts and instructions; if not set, all that can work',
  ),
  wrapTools: option('WRAP_TOOLS', flag.default(false), 'offer clients the tools that wrap scripts'),
  python: option(
    'PUNGI_PYTHON',
    z.string().min(1).optional(),
    'the Python interpreter, instead of the first found',
  ),
  tier: option(
    'PUNGI_TIER',
    z.enum(['auto', ...TIERS]).default('auto'),
    'isolation tier; auto takes the strongest',
  ),
  allowUnsandboxed: option(
    'ALLOW_UNSANDBOXED',
    flag.default(false),
    'allow the process and spawn tiers, which do not isolate',
  ),
  cgroups: option(
    'CGROUPS',
    z.enum(['auto', 'off']).default('auto'),
    'give runs cgroups where the system allows it',
  ),
  cacheDir: option('PUNGI_CACHE_DIR', z.string().min(1).optional(), 'where bytecode is kept'),
  profilesFile: option(
    'PROFILES_FILE',
    z.string().min(1).optional(),
    'the file with profiles, instead of profiles.yaml in the current folder',
  ),
  defaultProfile: option(
    'DEFAULT_PROFILE',
    z.string().min(1).default('default'),
    'the profile of runs that name none',
  ),
  allowedProfiles: option(
    'ALLOWED_PROFILES',
    list(/[\s,]+/).default(['*']),
    'the profiles that a caller may use; * for all',
  ),
  resultCacheMb: option('RESULT_CACHE_MB', count(0).default(64), 'memory for outcomes that profiles keep'),
  shareServer: option(
    'SHARE_SERVER',
    flag.default(true),
    'let `pungi run` use a running server of the same user and settings',
  ),
  audit: option('AUDIT', flag.default(true), 'record what is run in the audit trail'),
  auditDir: option('AUDIT_DIR', z.string().min(1).optional(), 'where the audit trail is kept'),
  auditSync: option(
    'AUDIT_SYNC',
    z.enum(['normal', 'full']).default('normal'),
    'full: a power loss loses nothing recorded either',
  ),
  auditStoreCode: option(
    'AUDIT_STORE_CODE',
    flag.default(true),
    'record code and inputs, not only the hash of the code',
  ),
  auditRetentionDays: option(
    'AUDIT_RETENTION_DAYS',
    count(1).optional(),
    'days after which entries are removed; never if not set',
  ),
  auditMaxMb: option(
    'AUDIT_MAX_MB',
    count(16).default(1024),
    'what the audit trail may take of the disk, in MB',
  ),
  auditWhenFull: option(
    'AUDIT_WHEN_FULL',
    z.enum(['rotate', 'refuse']).default('rotate'),
    'rotate: its oldest entries are dropped; refuse: runs are refused',
  ),
  alertLatencyMs: option(
    'ALERT_LATENCY_MS',
    count(0).default(5000),
    'alert when runs take longer (p95); 0: never',
  ),
  alertFailureRate: option(
    'ALERT_FAILURE_RATE',
    count(0, 100).default(20),
    'alert when more percent of runs fail by the server; 0: never',
  ),
  alertMemoryMb: option(
    'ALERT_MEMORY_MB',
    count(0).default(1024),
    'alert when server and runs use more memory; 0: never',
  ),
  alertQueue: option('ALERT_QUEUE', count(0).default(20), 'alert when more runs wait; 0: never'),
  alertWindowMs: option('ALERT_WINDOW_MS', count(1000).default(300_000), 'how far back alerts look'),
  alertWebhook: option(
    'ALERT_WEBHOOK',
    z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    'alerts are posted to this address',
  ),
  cluster: option(
    'PUNGI_CLUSTER',
    z
      .string()
      .regex(
        /^(nats|tls):\/\/[^\s@,]+(,(nats|tls):\/\/[^\s@,]+)*$/,
        'must be addresses such as nats://host:4222, without a password (it belongs into --creds)',
      )
      .optional(),
    'run code on the workers of the cluster at these NATS servers; of a worker: the cluster to join',
  ),
  clusterName: option(
    'PUNGI_CLUSTER_NAME',
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, _ and -')
      .optional(),
    'the name of the cluster; that of the credentials, or main, if not set',
  ),
  creds: option(
    'PUNGI_CREDS',
    z.string().min(1).optional(),
    'the folder with the credentials for the cluster',
  ),
  workerName: option(
    'PUNGI_WORKER_NAME',
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, _ and -')
      .optional(),
    'the name of a worker; that of the credentials, or one from its host, if not set',
  ),
  workerLabels: option(
    'PUNGI_WORKER_LABELS',
    list(/[\s,]+/)
      .pipe(
        z
          .array(
            z
              .string()
              .regex(/^[\w.-]{1,60}=[\w.-]{1,60}$/, 'must be of the form name=value')
              .refine((label) => !label.startsWith('arch='), 'must not set arch, which every worker has'),
          )
          .max(5, 'must be at most 5'),
      )
      .default([]),
    'what a worker has, such as gpu=true, for runs that need it',
  ),
  workerDiskMb: option(
    'PUNGI_WORKER_DISK_MB',
    count(1).default(20_000),
    'megabytes of environments that a worker keeps; those not used for the longest time make room',
  ),
  logLevel: option('LOG_LEVEL', z.enum(['debug', 'info', 'error']).default('info'), 'what is logged'),
  logFormat: option('LOG_FORMAT', z.enum(['json', 'text']).default('json'), 'how it is logged'),
  logFile: option('LOG_FILE', z.string().min(1).optional(), 'log to this file instead of stderr'),
} as const;

export type OptionName = keyof typeof OPTIONS;

type Shape = { [Name in OptionName]: (typeof OPTIONS)[Name]['schema'] };
const shape = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, { schema }]) => [name, schema]),
) as Shape;

export const Config = z.strictObject(shape);
export type Config = z.infer<typeof Config>;
/** A configuration as callers pass it: omitted settings have their defaults. */
export type GivenConfig = z.input<typeof Config>;

/** Whether the tools of a group are served, if they can work. */
export const isServed = ({ toolsets }: Pick<Config, 'toolsets'>, toolset: Toolset): boolean =>
  toolsets.length === 0 || toolsets.includes(toolset);
