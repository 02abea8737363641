import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { PungiError } from '@pungi/core/base';
import type { InputFile, LocalInputs } from '@pungi/core/contract';
import { asText, readOwnFile, readStdin } from './own-files.js';
import { unmarked } from './run-arguments.js';
import { placeOf } from './script-folder.js';
import type { Terminal } from './terminal.js';

const BINARY = 'pass binary data with --file NAME=PATH';

/** The code that `pungi run` runs. */
interface Source {
  code: string;
  /** The name that tracebacks show; undefined for code without a file. */
  filename: string | undefined;
  argv: string[];
  fromStdin: boolean;
  /** The folder that the script may read and import from. */
  folder?: string | undefined;
}

/** Reads `FILE args…`, `- args…` or `-c CODE args…`. The file is read with the user's own rights. */
export async function readSource(
  operands: readonly string[],
  code: string | undefined,
  signal: AbortSignal,
  { at }: Pick<Terminal, 'at'>,
): Promise<Source> {
  if (code !== undefined) return { code, filename: undefined, argv: [...operands], fromStdin: false };
  const [file, ...after] = operands;
  const argv = unmarked(after);
  if (file === undefined) {
    throw new PungiError(
      'INVALID_INPUT',
      'There is nothing to run: give a file, "-" for standard input, or -c CODE.',
    );
  }
  if (file === '-') {
    return {
      code: asText(await readStdin(signal), 'Standard input', BINARY),
      filename: undefined,
      argv,
      fromStdin: true,
    };
  }
  const text = asText(readOwnFile(at(file), file), file, BINARY);
  return { code: text, argv, fromStdin: false, ...placeOf(at(file), text) };
}

/** The standard input of the script: a text, a file of any size, or what is piped in while it runs. */
interface Input {
  text?: string;
  local?: Pick<LocalInputs, 'stdin' | 'stdinStream'>;
}

/** Reads `--stdin TEXT`, `--stdin @file`, or piped input. */
export function readInput(
  given: string | undefined,
  stdinIsCode: boolean,
  terminal: Pick<Terminal, 'stdin' | 'isPiped'>,
): Input {
  if (given?.startsWith('@@')) return { text: given.slice(1) };
  if (given?.startsWith('@')) return inputFrom(given.slice(1));
  if (given !== undefined) return { text: given };
  return stdinIsCode || !terminal.isPiped() ? {} : { local: { stdinStream: terminal.stdin } };
}

function inputFrom(path: string): Input {
  if (isLarge(path)) return { local: { stdin: path } };
  const content = readOwnFile(path);
  if (isUtf8(content)) return { text: asText(content, path) };
  return statSync(path).isFile() ? { local: { stdin: path } } : { text: asText(content, path, BINARY) };
}

/** Small files are part of the request, and so of the audit trail, which can then replay the run. */
const LARGEST_IN_REQUEST = 256 * 1024;

function isLarge(path: string): boolean {
  const about = statSync(path, { throwIfNoEntry: false });
  return about?.isFile() === true && about.size > LARGEST_IN_REQUEST;
}

/** Parses `--context JSON` or `--context @file`. */
export function readContext(given: string): unknown {
  const isFile = given.startsWith('@');
  const text = isFile ? asText(readOwnFile(given.slice(1)), given.slice(1)) : given;
  try {
    return JSON.parse(text);
  } catch (error) {
    const what = isFile ? `The file ${given.slice(1)}` : '--context';
    const why = (error as Error).message.split('\n', 1)[0];
    throw new PungiError('INVALID_INPUT', `${what} must be JSON, such as {"rate": 0.08}: ${why}.`);
  }
}

interface NamedFile {
  path: string;
  from: string;
}

/** `name=path`, or a path whose last part is the name. */
function namedFile(given: string): NamedFile {
  const cut = given.indexOf('=');
  const from = given.slice(cut + 1);
  return { path: cut < 0 ? basename(from) : given.slice(0, cut), from };
}

/** Reads the files for a request; large ones are only named. */
export function readInputFiles(given: readonly string[]): { files: InputFile[]; large: NamedFile[] } {
  const named = given.map(namedFile);
  const small = named.filter(({ from }) => !isLarge(from));
  return { files: small.map(contentOf), large: named.filter((one) => !small.includes(one)) };
}

export const readInputFile = (given: string): InputFile => contentOf(namedFile(given));

function contentOf({ path, from }: NamedFile): InputFile {
  const content = readOwnFile(from);
  return isUtf8(content) ? { path, text: content.toString() } : { path, base64: content.toString('base64') };
}
