import { isUtf8 } from 'node:buffer';
import { artifactFolder, type KeptRun, keptRuns, readKept } from '@pungi/core';
import { agoText, countText, oneLine, PungiError, revealed, sizeText } from '@pungi/core/base';
import type { Command } from 'commander';
import type { Answer, CommandContext, Parsed } from '../act.js';
import { readConfig } from '../config-flags.js';
import { FILES_EXIT_CODES_HELP } from '../exit-codes.js';
import { replaceableFile, writeOwnFile } from '../own-files.js';
import { type End, option, subcommandsOf } from '../subcommands.js';
import { type Column, tableOf } from '../terminal.js';

const subcommand = subcommandsOf({ settings: ['artifactDir'], exitCodes: FILES_EXIT_CODES_HELP });
const folderOf = (flags: Parsed) => artifactFolder(readConfig(flags));

/** `pungi files …`: the files that runs of a server left. All of them are on the disk of the person who asks. */
export function filesCommand(end: End): Command {
  const command = subcommand<[run: string | undefined]>('files', end, {
    about: 'show and fetch the files that runs of the server left',
    operands: [['[run]', RUN]],
    help: `  pungi files
  pungi files last
  pungi files get last out.csv -o out.csv

Files of all clients are shown, the newest run first, until they expire (ARTIFACT_HOURS). What
"pungi run" leaves is saved with its option --out.`,
    run: (context, flags, run) =>
      run === undefined ? listRuns(context, flags) : listFiles(context, flags, run),
  });
  return command.usage('[options] [run | command]').enablePositionalOptions().addCommand(get(end));
}

const RUN = 'the id of a run, its beginning, or "last" for the newest one';

interface GetFlags extends Parsed {
  output?: string;
  force?: boolean;
}

const get = (end: End): Command =>
  subcommand<[run: string, path: string], GetFlags>('get', end, {
    about: 'write a file to standard output, or to a file',
    operands: [
      ['<run>', RUN],
      ['<path>', 'the path of the file, as "pungi files RUN" shows it'],
    ],
    options: [
      option('-o, --output <file>', 'write to this file'),
      option('--force', 'replace the file if there is one'),
    ],
    help: `  pungi files get last plot.png -o plot.png
  pungi files get 4f6c out.csv | head`,
    async run(_, flags, run, path) {
      const folder = folderOf(flags);
      // Before anything is read: it would be in vain.
      if (flags.output !== undefined) replaceableFile(flags.output, flags.force ?? false);
      const kept = findRun(await keptRuns(folder), run);
      const content = await readKept(folder, kept, path);
      const about = { run: kept.runId, ...kept.artifacts.find((artifact) => artifact.path === path)! };
      if (flags.output !== undefined) {
        writeOwnFile(flags.output, content, flags.force ?? false);
        return {
          json: { ...about, file: flags.output },
          text: `${sizeOf(content.length)} in ${flags.output}\n`,
        };
      }
      if (flags.json) return { json: { ...about, base64: content.toString('base64') }, text: '' };
      process.stdout.write(process.stdout.isTTY ? shownOnTerminal(content) : content);
      return { text: '' };
    },
  });

/** Foreign bytes must not control the terminal. */
function shownOnTerminal(content: Buffer): string {
  if (isUtf8(content)) return revealed(content.toString());
  throw new PungiError('INVALID_INPUT', 'The file is not text: save it with -o FILE.');
}

const RUN_COLUMNS: readonly Column[] = [
  { heading: 'RUN' },
  { heading: 'ENDED' },
  { heading: 'SIZE', align: 'right' },
  { heading: 'FILES' },
];

async function listRuns({ style, width }: CommandContext, flags: Parsed): Promise<Answer> {
  const runs = await keptRuns(folderOf(flags));
  if (runs.length === 0) return { json: [], text: 'No files of runs are kept.\n' };
  const rows = runs
    .slice(0, MOST_RUNS)
    .map(({ runId, at, artifacts }) => [
      runId,
      agoText(new Date(at).toISOString()),
      sizeOf(bytesOf(artifacts)),
      namesOf(artifacts),
    ]);
  const more = runs.length - rows.length;
  const rest = more > 0 ? `${countText(more, 'older run')}: --json\n` : '';
  const table = tableOf(RUN_COLUMNS, rows, { style, width });
  return { json: runs.map(asJson), text: `${table}${style('dim', rest)}` };
}

const MOST_RUNS = 50;
const MOST_NAMES = 5;

function namesOf(artifacts: KeptRun['artifacts']): string {
  const names = artifacts.slice(0, MOST_NAMES).map(({ path }) => oneLine(path));
  const more = artifacts.length - names.length;
  return [...names, ...(more > 0 ? [`and ${countText(more, 'more', 'more')}`] : [])].join(', ');
}

const FILE_COLUMNS: readonly Column[] = [
  { heading: 'SIZE', align: 'right' },
  { heading: 'TYPE' },
  { heading: 'PATH' },
];

async function listFiles({ style, width }: CommandContext, flags: Parsed, run: string): Promise<Answer> {
  const kept = findRun(await keptRuns(folderOf(flags)), run);
  const rows = kept.artifacts.map(({ path, size, mimeType }) => [sizeOf(size), mimeType, oneLine(path)]);
  return { json: asJson(kept), text: tableOf(FILE_COLUMNS, rows, { style, width }) };
}

/** What the files hold; the quota counts a little more for small ones. */
const bytesOf = (artifacts: KeptRun['artifacts']) => artifacts.reduce((sum, { size }) => sum + size, 0);

const asJson = ({ runId, at, artifacts }: KeptRun) => ({
  run: runId,
  at: new Date(at).toISOString(),
  bytes: bytesOf(artifacts),
  files: artifacts,
});

const sizeOf = (bytes: number) =>
  bytes < 1024 * 1024 ? countText(bytes, 'byte') : sizeText(bytes / 1024 / 1024);

/** A short beginning of an id is enough if it is that of one run. */
function findRun(runs: readonly KeptRun[], which: string): KeptRun {
  const found = which === 'last' ? runs.slice(0, 1) : runs.filter(({ runId }) => runId.startsWith(which));
  if (found.length === 1 && which !== '') return found[0]!;
  const what = which === 'last' ? 'any run' : `a run "${oneLine(which)}"`;
  throw new PungiError(
    'INVALID_INPUT',
    found.length > 1
      ? `${found.length} runs begin with "${oneLine(which)}": give more of the id.`
      : `No files of ${what} are kept: see "pungi files".`,
  );
}
