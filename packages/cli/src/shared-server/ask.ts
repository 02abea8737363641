import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';

/** What a command tells a server, which decides whether it would do the very same. */
export interface Ask {
  build: string;
  surroundings: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  command: ForwardedRun;
  /** Identifies the script, if it is a file. */
  script: string | null;
  isPiped: boolean;
  isTerminal: { stdout: boolean; stderr: boolean };
}

/** The operands and options of a `pungi run` that servers understand. */
export interface ForwardedRun {
  operands: string[];
  options: {
    code?: string;
    json?: true;
    timeout?: string;
    capability?: string;
    context?: string;
    stdin?: string;
  };
}

const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];
const INHERITED = /^(Umask|Uid|Gid|Groups|CapInh|CapPrm|CapBnd|NoNewPrivs|Seccomp|Cpus_allowed):.*$/gm;

/** What processes inherit that this one starts, and what they can see of the machine. */
export function surroundings(): string {
  return JSON.stringify([
    NAMESPACES.map((name) => readlinkSync(`/proc/self/ns/${name}`)),
    readFileSync('/proc/self/status', 'latin1').match(INHERITED),
    readFileSync('/proc/self/limits', 'latin1'),
    getPriority(),
  ]);
}

/** Identifies a file, as it is now. */
export function identityOf(path: string): string {
  const { dev, ino, size, mtimeMs } = statSync(path);
  return [dev, ino, size, mtimeMs].join(' ');
}

/** Identifies the program in a folder of the build. Throws if there is none. */
export const buildOf = (folder: string): string => `${folder} ${identityOf(join(folder, 'run.cjs'))}`;

type Options = ForwardedRun['options'];
const TEXTS: Record<string, { name: keyof Options; fits: RegExp }> = {
  '--timeout': { name: 'timeout', fits: /^[1-9]\d{0,8}$/ },
  '--capability': { name: 'capability', fits: /^(?!-)/ },
  // Files are read by the command itself.
  '--context': { name: 'context', fits: /^(?![@-])/ },
  '--stdin': { name: 'stdin', fits: /^(?![@-])/ },
};

/** Parses the arguments of `pungi run`. Undefined if any of them needs the command line's own parser, or more than a server offers. */
export function parseRun(args: readonly string[]): ForwardedRun | undefined {
  const options: Options = {};
  for (let at = 0; at < args.length; at += 1) {
    const [arg = '', next] = args.slice(at, at + 2);
    const text = TEXTS[arg];
    if (arg === '--json') options.json = true;
    else if (text && next !== undefined && text.fits.test(next)) {
      Object.assign(options, { [text.name]: next });
      at += 1;
    } else if (arg === '-c' || arg === '--code') return ofCode(next ?? '', args.slice(at + 2), options);
    else
      return /^[^-]/.test(arg) && args[at + 1] !== '--' ? { operands: args.slice(at), options } : undefined;
  }
  return undefined;
}

function ofCode(code: string, operands: string[], options: Options): ForwardedRun | undefined {
  if (/^(-|$)/.test(code)) return undefined;
  // Options after the code may deserve a note.
  if (operands.some((operand) => operand.startsWith('-'))) return undefined;
  return { operands, options: { ...options, code } };
}
