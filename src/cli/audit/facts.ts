import { countText, durationText, sizeText } from '../../base/terminal.js';
import type { Limits } from '../../contract/limits.js';
import type { Isolation, ScopeViolation, Usage } from '../../contract/outcome.js';

const bytesText = (bytes: number) =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : sizeText(bytes / 1024 / 1024);

export const limitsText = (limits: Limits): string =>
  [
    `${durationText(limits.timeoutMs)} in all`,
    `${durationText(limits.cpuMs)} CPU`,
    `${sizeText(limits.memoryMb)} memory`,
    `${sizeText(limits.diskMb)} disk`,
    `${bytesText(limits.outputHardBytes)} output`,
    countText(limits.processes, 'process', 'processes'),
    countText(limits.openFiles, 'open file'),
  ].join(', ');

export const usageText = ({ wallMs, cpuMs, peakMemoryMb, waitMs, installMs }: Usage): string =>
  [
    `${durationText(wallMs)} in all`,
    `${durationText(cpuMs)} CPU`,
    `${sizeText(peakMemoryMb)} memory`,
    ...(waitMs > 0 ? [`waited ${durationText(waitMs)}`] : []),
    ...(installMs > 0 ? [`installed for ${durationText(installMs)}`] : []),
  ].join(', ');

export const isolationText = ({ tier, features }: Isolation): string =>
  tier === null ? 'nothing was run' : [tier, ...features].join(', ');

export const violationText = ({ line, column, message }: ScopeViolation): string =>
  line === null ? message : `line ${line}${column === null ? '' : `:${column}`}  ${message}`;
