import { z } from 'zod';
import { invalidInput, PungiError } from '../base/errors.js';
import type { FolderList } from '../contract/files.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunRequest } from '../contract/run.js';

/** Entries of a folder that are looked at, and those of one list. */
const MOST_ENTRIES = 100_000;
const MOST_LISTED = 100;
const LONGEST_PATH = 1024;

/**
 * Runs in the sandbox, so it lists what a run can read, and nothing else, whatever the folder holds. Nothing is opened but the
 * folder.
 */
const LIST = `
import itertools, json, os, stat

def shown(name):
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)

def about(entry):
    try:
        found = entry.stat()
    except OSError:
        return {"name": shown(entry.name), "kind": "link" if entry.is_symlink() else "unreadable"}
    if stat.S_ISDIR(found.st_mode):
        return {"name": shown(entry.name) + "/"}
    if stat.S_ISREG(found.st_mode):
        return {"name": shown(entry.name), "size": found.st_size}
    return {"name": shown(entry.name), "kind": "special"}

try:
    with os.scandir(context["path"]) as entries:
        found = sorted(itertools.islice(entries, context["entries"]), key=lambda entry: entry.name)
    first = context["offset"]
    answer = {"entries": [about(entry) for entry in found[first : first + context["most"]]], "total": len(found)}
except NotADirectoryError:
    answer = {"problem": "it is a file: open it in code"}
except OSError as error:
    answer = {"problem": error.strerror or "it cannot be read"}
print(json.dumps(answer))
`;

const Answer = z.union([
  z.object({
    entries: z.array(
      z.object({
        name: z.string(),
        size: z.number().optional(),
        kind: z.enum(['link', 'unreadable', 'special']).optional(),
      }),
    ),
    total: z.number(),
  }),
  z.object({ problem: z.string() }),
]);

/** The folder data/ itself. */
function listRoots(folders: readonly { name: string }[], offset: number): FolderList {
  const entries = folders.slice(offset, offset + MOST_LISTED).map(({ name }) => ({ name: `${name}/` }));
  const next = offset + entries.length;
  const total = folders.length;
  return { path: 'data', entries, total, ...(next < total && { nextOffset: next }) };
}

/** Lists data/ or a folder below it. Throws INVALID_INPUT if there is no such folder. */
export async function listFolder(
  { path, offset }: { path: string; offset: number },
  folders: readonly { name: string }[],
  run: (request: RunRequest) => Promise<Outcome>,
): Promise<FolderList> {
  const parts = path.replace(/^\.\//, '').replace(/\/+$/, '').split('/');
  const [first, name] = parts;
  const known = folders.map((folder) => `data/${folder.name}`);
  if (first === 'data' && parts.length === 1 && known.length > 0) return listRoots(folders, offset);
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part)) && path.length <= LONGEST_PATH;
  if (first !== 'data' || !isPlain || !folders.some((folder) => folder.name === name))
    throw invalidInput(
      `There is no folder ${JSON.stringify(path)}; there are: ${known.join(', ') || 'none'}.`,
    );
  const whole = parts.join('/');
  const context = { path: whole, offset, most: MOST_LISTED, entries: MOST_ENTRIES };
  const { verdict, stdout } = await run({ code: LIST, context });
  if (verdict.kind !== 'ok') {
    const message = `The folder could not be listed: ${verdict.message}`;
    throw new PungiError(verdict.kind === 'busy' ? 'SERVER_BUSY' : 'INTERNAL_ERROR', message);
  }
  const answer = Answer.parse(JSON.parse(stdout.text));
  if ('problem' in answer)
    throw invalidInput(`${JSON.stringify(whole)} cannot be listed: ${answer.problem}.`);
  const { entries, total } = answer;
  const isCut = total === MOST_ENTRIES;
  const next = offset + entries.length;
  return { path: whole, entries, total, ...(isCut && { isCut }), ...(next < total && { nextOffset: next }) };
}
