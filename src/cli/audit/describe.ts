import type { AuditEntry } from '../../contract/audit.js';
import { agoText } from '../terminal/amounts.js';
import { revealed, revealedLine } from '../terminal/printable.js';
import type { Style } from '../terminal/style.js';
import { timeText } from './time.js';

/** What people look for first. */
const FIRST: readonly string[] = ['runId', 'event', 'action', 'what', 'reason', 'change', 'verdict'];
/** What is long gets lines of its own, at the end. */
const BLOCKS: readonly string[] = ['code', 'inputs', 'before', 'after', 'settings', 'details'];

type Member = [name: string, value: unknown];

/** All of an entry; whatever others have written into it commands no terminal. */
export function describe(entry: AuditEntry, style: Style): string {
  const { seq, time, kind, client, token, data, hash, prevHash } = entry;
  const members = Object.entries(data).filter(([, value]) => !isEmpty(value));
  const facts: Member[] = [
    ['time', `${timeText(time)} UTC (${agoText(time)})`],
    ['client', client],
    ['token', token],
    ...members.filter(([name]) => !BLOCKS.includes(name)).sort(byRank),
    ['hash', hash],
    ['follows', prevHash],
  ];
  const shown = facts
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => [labelOf(name), revealedLine(factText(value))] as const);
  const width = Math.max(...shown.map(([label]) => label.length));
  const blocks = members.filter(([name]) => BLOCKS.includes(name));
  return [
    style('bold', `Entry ${seq}: ${kind}`),
    ...shown.map(([label, value]) => `  ${style('dim', label.padEnd(width))}  ${value}`),
    ...blocks.flatMap(([name, value]) => [
      `  ${style('dim', labelOf(name))}`,
      indented(blockText(value), '    '),
    ]),
    '',
  ].join('\n');
}

const byRank = ([one]: Member, [other]: Member) => rankOf(one) - rankOf(other);
const rankOf = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

/** "codeSha256" as "Code SHA-256", "runId" as "Run". */
function labelOf(name: string): string {
  const words = name
    .replace(/Id$/, '')
    .replace(/Sha256$/, ' SHA-256')
    .replace(/([a-z])([A-Z])(?=[a-z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return words[0]!.toUpperCase() + words.slice(1);
}

/** {"kind": "ok", "code": null} as "ok", {"wallMs": 1, "cpuMs": 2} as "wallMs 1, cpuMs 2". */
function factText(value: unknown): string {
  if (Array.isArray(value)) return value.map(factText).join(', ');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const { kind, ...rest } = value as Record<string, unknown>;
  const members = Object.entries(rest).filter(([, member]) => !isEmpty(member));
  const texts = members.map(([name, member]) => `${name} ${factText(member)}`);
  return (isEmpty(kind) ? texts : [factText(kind), ...texts]).join(', ');
}

function blockText(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
  return members.map(([name, member]) => `${name}:${valueText(member)}`).join('\n');
}

const valueText = (value: unknown) =>
  typeof value === 'string' && value.includes('\n')
    ? `\n${indented(value, '  ')}`
    : ` ${JSON.stringify(value)}`;

const indented = (text: string, by: string) => revealed(text).trimEnd().replace(/^/gm, by);

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.values(value as object).every(isEmpty));
