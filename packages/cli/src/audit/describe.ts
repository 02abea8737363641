import {
  agoText,
  countText,
  cutTo,
  durationText,
  revealed,
  revealedLine,
  type Style,
  sizeText,
  widthOf,
} from '@pungi/core/base';
import type { AuditEntry, Isolation, Limits, ScopeViolation, Usage } from '@pungi/core/contract';
import { timeText } from './subcommand.js';

const bytesText = (bytes: number) =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : sizeText(bytes / 1024 / 1024);

const limitsText = (limits: Limits): string =>
  [
    `${durationText(limits.timeoutMs)} in all`,
    `${durationText(limits.cpuMs)} CPU`,
    `${sizeText(limits.memoryMb)} memory`,
    `${sizeText(limits.diskMb)} disk`,
    `${bytesText(limits.outputHardBytes)} output`,
    countText(limits.processes, 'process', 'processes'),
    countText(limits.openFiles, 'open file'),
  ].join(', ');

const usageText = ({ wallMs, cpuMs, peakMemoryMb, waitMs, installMs }: Usage): string =>
  [
    `${durationText(wallMs)} in all`,
    `${durationText(cpuMs)} CPU`,
    `${sizeText(peakMemoryMb)} memory`,
    ...(waitMs > 0 ? [`waited ${durationText(waitMs)}`] : []),
    ...(installMs > 0 ? [`installed for ${durationText(installMs)}`] : []),
  ].join(', ');

const isolationText = ({ tier, features }: Isolation): string =>
  tier === null ? 'nothing was run' : [tier, ...features].join(', ');

const violationText = ({ line, column, message }: ScopeViolation): string =>
  line === null ? message : `line ${line}${column === null ? '' : `:${column}`}  ${message}`;

/** Fields that come first. */
const FIRST: readonly string[] = ['runId', 'event', 'action', 'what', 'reason', 'change', 'verdict'];
/** Long fields, which come last as blocks. */
const BLOCKS: readonly string[] = ['code', 'inputs', 'violations', 'changes', 'details'];
/** Widths of a fact and of the value of a setting. */
const FACT_WIDTH = 80;
const VALUE_WIDTH = 60;

type Member = [name: string, value: unknown];

/** Formats an entry in full, with control characters made visible. */
export function describe(entry: AuditEntry, style: Style): string {
  const { seq, time, kind, client, token, hash, prevHash } = entry;
  const members = Object.entries(membersOf(entry)).filter(([, value]) => !isEmpty(value));
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
    .map(([name, value]) => [labelOf(name), revealedLine(textOf(name, value))] as const);
  const width = Math.max(...shown.map(([label]) => label.length));
  const indent = ' '.repeat(width + 4);
  const blocks = members.filter(([name]) => BLOCKS.includes(name));
  return [
    style('bold', `Entry ${seq}: ${kind}`),
    ...shown.map(([label, value]) => `  ${style('dim', label.padEnd(width))}  ${wrapped(value, indent)}`),
    ...blocks.flatMap(([name, value]) => [
      `  ${style('dim', labelOf(name))}`,
      indented(blockText(name, value), '    '),
    ]),
    '',
  ].join('\n');
}

/** Details of a denial become facts like others; of settings, only changes are shown. */
function membersOf({ kind, data }: AuditEntry): Record<string, unknown> {
  if (kind === 'denial') {
    const { details, ...rest } = data;
    return isPlain(details) ? { ...rest, ...details } : data;
  }
  if (kind !== 'configuration') return data;
  const { change, before, after } = data;
  return {
    change: before === null ? 'first entry: all settings' : change,
    changes: changesText(before, after),
  };
}

function changesText(before: unknown, after: unknown): string {
  const short = (value: unknown) => cutTo(revealedLine(JSON.stringify(value) ?? ''), VALUE_WIDTH);
  return Object.entries(isPlain(after) ? after : {})
    .filter(([, value]) => isPlain(before) || !isEmpty(value))
    .map(([name, value]) =>
      isPlain(before) ? `${name}: ${short(before[name])} → ${short(value)}` : `${name}: ${short(value)}`,
    )
    .join('\n');
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const byRank = ([one]: Member, [other]: Member) => rankOf(one) - rankOf(other);
const rankOf = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

/** "codeSha256" as "Code SHA-256", "runId" as "Run". */
function labelOf(name: string): string {
  const label = name
    .replace(/Id$/, '')
    .replace(/Sha256$/, ' SHA-256')
    .replace(/([a-z])([A-Z])(?=[a-z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return label[0]!.toUpperCase() + label.slice(1);
}

const TEXTS: Record<string, (value: never) => string> = {
  limits: limitsText,
  usage: usageText,
  isolation: isolationText,
};

function textOf(name: string, value: unknown): string {
  try {
    return TEXTS[name]?.(value as never) ?? factText(value);
  } catch {
    return factText(value); // a tampered entry may hold anything
  }
}

/** Wraps a list that is too long for one line. */
function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const part of text.split(/(?<=, )/)) {
    if (lines.length > 0 && widthOf(lines.at(-1)! + part.trimEnd()) <= FACT_WIDTH)
      lines[lines.length - 1] += part;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd()).join(`\n${indent}`);
}

/** Formats {"kind": "ok", "code": null} as "ok", and {"wallMs": 1, "cpuMs": 2} as "wallMs 1, cpuMs 2". */
function factText(value: unknown): string {
  if (Array.isArray(value)) return value.map(factText).join(', ');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const { kind, ...rest } = value as Record<string, unknown>;
  const members = Object.entries(rest).filter(([, member]) => !isEmpty(member));
  const texts = members.map(([name, member]) => `${name} ${factText(member)}`);
  return (isEmpty(kind) ? texts : [factText(kind), ...texts]).join(', ');
}

function blockText(name: string, value: unknown): string {
  if (name === 'violations' && Array.isArray(value)) return value.map(violationText).join('\n');
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
