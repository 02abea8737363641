import { existsSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PackageInfo } from '../../contract/environment.js';
import type { Interpreter } from '../../sandbox/interpreter.js';
import { runTool } from '../../sandbox/tool.js';

/** Listing hundreds of fonts takes a few seconds. */
const TIMEOUT_MS = 30_000;
const LARGEST_BYTES = 4 * 1024 * 1024;
const NAME = /^fontlist-v[\w.]{1,20}\.json$/;

const LIST_FONTS = `
import json, pathlib, matplotlib.font_manager
lists = pathlib.Path(matplotlib.get_cachedir()).glob("fontlist-*.json")
print(json.dumps({file.name: file.read_text("utf-8") for file in lists}))
`;
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/tmp', MPLCONFIGDIR: '/tmp/matplotlib' };

/** The folder where font_list.py finds it. */
const folderOf = (venv: string) => join(venv, 'share', 'pungi', 'matplotlib');

/**
 * matplotlib lists the machine's fonts when it is first imported, which every run would do anew: it is done once, with the environment.
 * matplotlib runs in the jail for builds and prints its list. Where that fails, runs make their own.
 */
export async function prepareFontList(
  { path: python }: Interpreter,
  { venv, packages }: { venv: string; packages: PackageInfo[] },
  signal: AbortSignal,
): Promise<void> {
  const folder = folderOf(venv);
  if (existsSync(folder) || !packages.some(({ name }) => name === 'matplotlib')) return;
  try {
    const jail = { readable: [venv, dirname(dirname(await realpath(python)))], writable: [] };
    const command = { python, command: join(venv, 'bin', 'python'), args: ['-I', '-c', LIST_FONTS] };
    const { stdout } = await runTool(
      { ...command, env: ENVIRONMENT, jail },
      { timeoutMs: TIMEOUT_MS, signal },
    );
    const lists = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(lists).slice(0, 1))
      if (NAME.test(name) && typeof text === 'string' && text.length <= LARGEST_BYTES)
        await writeFile(join(folder, name), text);
  } catch {
    signal.throwIfAborted();
  }
}
