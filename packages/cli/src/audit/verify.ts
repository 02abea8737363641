import type { TrailReader } from '@pungi/core/audit';
import { countText, PungiError, revealedLine, type Style } from '@pungi/core/base';
import type { AuditHead, AuditVerification } from '@pungi/core/contract';
import { type Command, InvalidArgumentError } from 'commander';
import type { Answer, CommandContext, Parsed } from '../act.js';
import { DAMAGED } from '../exit-codes.js';
import { type End, option, subcommand, timeText, withReader } from './subcommand.js';
import { isOfCluster, verifyCluster } from './verify-cluster.js';

interface Flags extends Parsed {
  expect?: AuditHead;
  trail?: string[];
}

export const verify = (end: End): Command =>
  subcommand<[], Flags>('verify', end, {
    about: 'check that no entry was changed, dropped, added or moved',
    options: [
      option(
        '--expect <entry:hash>',
        'also check that this entry still has this hash, printed by an earlier verify',
      ).argParser(parseHead),
      option('--trail <folders...>', 'with --cluster: also check these trails, or copies of them'),
    ],
    settings: ['cluster', 'clusterName', 'creds'],
    help: `  pungi audit verify
  pungi audit verify --json
  pungi audit verify --cluster tls://nats.example.org:4222 --creds prod/operator
  pungi audit verify --expect 120:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Anyone who can read audit.key can write a whole new trail. To detect that, keep the output of verify on another machine
and pass it to --expect. With --cluster, the trails of all front ends are checked against the checkpoints that
they have published in the cluster; exit code 69 says that some could not be checked.`,
    run: (context, flags) => {
      if (isOfCluster(flags)) return verifyCluster(context, flags, flags.trail ?? []);
      if (flags.trail !== undefined)
        throw new PungiError('INVALID_INPUT', 'Only a cluster has other trails: give --cluster and --creds.');
      return verifyOne(context, flags);
    },
  });

const verifyOne = ({ style }: CommandContext, flags: Flags): Promise<Answer> =>
  withReader(flags, async (reader) => {
    const found = await reader.verify();
    const result = flags.expect === undefined ? found : withExpected(found, flags.expect, reader);
    const text = result.ok
      ? formatValid(result, reader.folder, style)
      : formatProblems(result, reader.folder, style);
    return { json: result, text, status: result.ok ? 0 : DAMAGED };
  });

function parseHead(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined)
    throw new InvalidArgumentError('must be the number of an entry and its hash, such as "120:9f86…".');
  return { seq: Number(seq), hash };
}

function withExpected(
  found: AuditVerification,
  { seq, hash }: AuditHead,
  reader: TrailReader,
): AuditVerification {
  const entry = reader.get(seq);
  if (entry?.hash === hash) return found;
  const isRemoved = found.removed !== null && seq <= found.removed.through;
  const problem = isRemoved
    ? `Entry ${seq} was pruned, with all up to ${found.removed!.through}: pass a newer one to --expect.`
    : entry === undefined
      ? `Entry ${seq} is missing: it was never part of this trail.`
      : `Entry ${seq} does not have the expected hash: the trail was rewritten.`;
  return { ...found, ok: false, problems: [...found.problems, { seq, problem }] };
}

const amounts = ({ entries, checkpoints }: AuditVerification) =>
  `${countText(entries, 'entry', 'entries')}, ${countText(checkpoints, 'signed checkpoint')}`;

function formatValid(result: AuditVerification, folder: string, style: Style): string {
  const { seq, hash } = result.head!;
  const removed = removedText(result);
  return `${style('green', 'ok')}  ${amounts(result)} in ${folder}\n${removed}    newest ${seq}:${hash}\n`;
}

/** Removed entries cannot be verified; their removal is signed. */
const removedText = ({ removed }: AuditVerification) =>
  removed === null
    ? ''
    : `    entries 1 to ${removed.through} were removed (signed ${timeText(removed.at)} UTC); the chain begins after them\n`;

function formatProblems(result: AuditVerification, folder: string, style: Style): string {
  const lines = result.problems.map(({ problem }) => `${style('red', '✗')} ${revealedLine(problem)}\n`);
  const found = countText(result.problems.length, 'problem');
  return `${lines.join('')}${found} in ${folder} (${amounts(result)}).\n`;
}
