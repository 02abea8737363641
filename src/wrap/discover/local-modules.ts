import { PungiError } from '../../base/errors.js';
import type { Remark } from '../../contract/wrap.js';
import type { Beside, LocalFile } from './beside.js';

interface LocalModules {
  /** What the script and the files that go along with it import from elsewhere. */
  imports: string[];
  remarks: Remark[];
}

/** The modules that code imports, without the standard library's. */
type ImportsOf = (code: string, filename: string) => Promise<readonly string[]>;

/**
 * Takes along what a script imports from its own folder, and what that imports, in the way in which Python would. So it does
 * with what the files import that go along already.
 */
export async function takeModules(
  beside: Beside,
  imports: readonly string[],
  importsOf: ImportsOf,
): Promise<LocalModules> {
  const elsewhere = new Set<string>();
  const remarks: Remark[] = [];
  const seen = new Set<string>();
  const waiting = [...imports];
  const read = async (files: readonly LocalFile[]) => {
    for (const { path, content } of files.filter(({ path }) => path.endsWith('.py'))) {
      try {
        waiting.push(...(await importsOf(new TextDecoder().decode(content), path.split('/').at(-1)!)));
      } catch (error) {
        const { code, message } = PungiError.from(error);
        if (code !== 'PYTHON_ERROR') throw error;
        remarks.push({ line: 1, name: path, reason: `does not compile: ${message}`, isSkipped: false });
      }
    }
  };
  const named = beside.files;
  await read(named);
  const known = new Set(named.map(({ path }) => path));
  for (let module = waiting.shift(); module !== undefined; module = waiting.shift()) {
    const [name = ''] = module.split('.', 1);
    if (seen.has(name)) continue;
    seen.add(name);
    const found = beside.takeModule(name);
    if (found.length === 0) elsewhere.add(name);
    await read(found.filter(({ path }) => !known.has(path)));
  }
  return { imports: [...elsewhere], remarks };
}
