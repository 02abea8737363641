import { countText, revealedLine } from '@pungi/core/base';
import type { FilesOverview, FolderList, ListedEntry } from '@pungi/core/contract';
import { z } from 'zod';
import { budgetOf, halfOf } from '../fit.js';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { answer, type Call, reply, type Tool } from './tool.js';

/** Room of a reply for its other fields. */
const BESIDE_CHARS = 300;

const Arguments = z.strictObject({
  path: z.string().min(1).max(1024).optional().describe('data/…'),
  offset: z.int().min(0).optional(),
});

export const listFiles = (): Tool => ({
  name: 'list_files',
  title: 'List files',
  description: 'List data, uploads, files of runs, or a folder.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments, ['offset']),
  answer: (args, call) =>
    answer(Arguments, args, call, async ({ path, offset = 0 }, { signal, caller }) => {
      const { pungi } = call;
      if (path === undefined)
        return reply(call, fittingOverview(await overviewFor(call), call), formatOverviewFor(call));
      const list = await pungi.listFolder({ path, offset }, { signal, caller });
      return reply(call, fittingFolder(list, offset, call), formatFolder);
    }),
});

/** Without a token, a client over HTTP is known only by the name that it gives itself: it sees nobody's handles. */
const isKnown = ({ caller, ctx }: Call): boolean => ctx.http === undefined || caller.token !== null;

async function overviewFor(call: Call): Promise<FilesOverview> {
  const overview = await call.pungi.files(call.caller);
  return isKnown(call) ? overview : { ...overview, uploads: [], runs: [] };
}

const roomOf = ({ pungi }: Call) => halfOf(budgetOf(pungi.config)) - BESIDE_CHARS;

/** Older runs, and then the rest of the lists, are left out. */
function fittingOverview(overview: FilesOverview, call: Call): FilesOverview {
  const fits = (one: FilesOverview) => JSON.stringify(one).length <= roomOf(call);
  const cut = (lists: FilesOverview): FilesOverview =>
    fits(lists)
      ? lists
      : cut({
          folders: lists.runs.length + lists.uploads.length > 0 ? lists.folders : half(lists.folders),
          uploads: lists.runs.length > 0 ? lists.uploads : half(lists.uploads),
          runs: half(lists.runs),
        });
  return cut(overview);
}

const half = <Item>(items: Item[]): Item[] => items.slice(0, Math.floor(items.length / 2));

function fittingFolder(list: FolderList, offset: number, call: Call): FolderList {
  if (JSON.stringify(list).length <= roomOf(call) || list.entries.length <= 1) return list;
  const entries = list.entries.slice(0, Math.ceil(list.entries.length / 2));
  return fittingFolder({ ...list, entries, nextOffset: offset + entries.length }, offset, call);
}

const formatOverviewFor = (call: Call) => (overview: FilesOverview) =>
  formatOverview(overview) || (isKnown(call) ? 'There are no files.' : NOT_LISTED);

const NOT_LISTED =
  'There is no data. Uploads and files of runs are not listed over HTTP: use the handles in earlier replies.';

function formatOverview({ folders, uploads, runs }: FilesOverview): string {
  const lines = [
    ...folders.map((folder) => `${folder}/`),
    ...uploads.map(({ upload, size }) => `${upload}  ${size} bytes`),
    ...runs.map(({ run, files }) => `run ${run}: ${files.map(formatFile).join(', ')}`),
  ];
  return lines.join('\n');
}

const formatFile = ({ path, size }: { path: string; size: number }) =>
  `${revealedLine(path)} (${size} bytes)`;

function formatFolder({ path, entries, total, isCut, nextOffset }: FolderList): string {
  const count = isCut ? `more than ${total} entries` : countText(total, 'entry', 'entries');
  return [
    `${path}/: ${count}`,
    ...entries.map(formatEntry),
    ...(nextOffset === undefined ? [] : [`… more: offset ${nextOffset}`]),
  ].join('\n');
}

const formatEntry = ({ name, size, kind }: ListedEntry) =>
  size === undefined ? `${name}${kind === undefined ? '' : `  (${kind})`}` : `${name}  ${size} bytes`;
