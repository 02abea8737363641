import { isUtf8 } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { basename } from 'node:path';
import { PungiError } from '@pungi/core/base';
import type { InputFile } from '@pungi/core/contract';
import { asText, readOwnFile, readStdin } from './own-files.js';

const BINARY = 'pass binary data with --file NAME=PATH';
const NO_STDIN = 'use --stdin "" for none';

/** The code that `pungi run` runs. */
interface Source {
  code: string;
  /** The name that tracebacks show; undefined for code without a file. */
  filename: string | undefined;
  argv: string[];
  fromStdin: boolean;
}

/** Reads `FILE args…`, `- args…` or `-c CODE args…`. The file is read with the user's own rights. */
export async function readSource(
  operands: readonly string[],
  code: string | undefined,
  signal: AbortSignal,
): Promise<Source> {
  if (code !== undefined) return { code, filename: undefined, argv: [...operands], fromStdin: false };
  const [file, ...argv] = operands;
  if (file === undefined) {
    throw new PungiError(
      'INVALID_INPUT',
      'There is nothing to run: give a file, "-" for standard input, or -c CODE.',
    );
  }
  if (file === '-') {
    return {
      code: asText(await readStdin(signal, NO_STDIN), 'Standard input', BINARY),
      filename: undefined,
      argv,
      fromStdin: true,
    };
  }
  return { code: asText(readOwnFile(file), file, BINARY), filename: basename(file), argv, fromStdin: false };
}

/** Reads `--stdin TEXT`, `--stdin @file`, or piped input; undefined if there is none. */
export async function readInput(
  given: string | undefined,
  stdinIsCode: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (given?.startsWith('@@')) return given.slice(1);
  if (given?.startsWith('@')) return asText(readOwnFile(given.slice(1)), given.slice(1), BINARY);
  if (given !== undefined) return given;
  return stdinIsCode || !isPiped()
    ? undefined
    : asText(await readStdin(signal, NO_STDIN), 'Standard input', BINARY);
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

/** Reads `name=path`, or a path whose last part is the name. */
export function readInputFile(given: string): InputFile {
  const cut = given.indexOf('=');
  const path = given.slice(cut + 1);
  const content = readOwnFile(path);
  const name = cut < 0 ? basename(path) : given.slice(0, cut);
  return isUtf8(content)
    ? { path: name, text: content.toString() }
    : { path: name, base64: content.toString('base64') };
}

/** A terminal is not read: the user would have to end the input before anything happens. */
function isPiped(): boolean {
  const stdin = fstatSync(0);
  return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
}
