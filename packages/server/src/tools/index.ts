import type { Config } from '@pungi/core/config';
import { Analysis, AnalysisRequest, type Finding, Health } from '@pungi/core/contract';
import type { Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { isStrategicOnly, usablePersonas } from './descriptions.js';
import { createVenv, deleteVenv, listVenvs, setVenvDescription } from './environments.js';
import { executePython, executePythonFile } from './execute-python.js';
import { executeStrategicCode } from './execute-strategic-code.js';
import { listProfiles } from './list-profiles.js';
import { installPackages, listPackages, uninstallPackages } from './packages.js';
import { readFile } from './read-file.js';
import { endSession, listSessions } from './sessions.js';
import { answer, type Tool } from './tool.js';
import { countOf, existingVenv, READ_ONLY } from './venv-arguments.js';

export const toolsFor = (config: Config, profiles: Profiles): Tool[] =>
  isStrategicOnly(config) ? strategicTools(config, profiles) : allTools(config, profiles);

const strategicTools = (config: Config, profiles: Profiles): Tool[] => [
  executeStrategicCode(config, profiles),
  listProfiles(config, profiles),
];

const allTools = (config: Config, profiles: Profiles): Tool[] => [
  executePython(config, profiles),
  executePythonFile(config),
  ...(usablePersonas(profiles).length > 0 ? [executeStrategicCode(config, profiles)] : []),
  listProfiles(config, profiles),
  analyzeCode(),
  listPackages(config),
  ...changing(config, installPackages(config), uninstallPackages(config)),
  listVenvs(),
  ...changing(config, createVenv(), setVenvDescription(), deleteVenv(config)),
  listSessions(),
  endSession(),
  ...(config.artifactMb > 0 ? [readFile()] : []),
  healthCheck(config),
];

/** Tools that change environments are offered only if the server's owner allows it. */
const changing = ({ environmentTools }: Config, ...tools: Tool[]): Tool[] => (environmentTools ? tools : []);

/** Fields that help a person find a fault; models need only the others. */
const DETAILS = ['metrics', 'isolation', 'interpreter', 'environment', 'pool', 'queue', 'alerts', 'audit'];

function healthCheck(config: Config): Tool {
  const Arguments = z.strictObject({ venvName: existingVenv(config, 'to inspect') });
  return {
    name: 'health_check',
    title: 'Server health',
    description:
      'Check whether the server can run Python now, with which interpreter, isolation and limits, the state of an environment, ' +
      'and counts of past runs. Use it when calls fail for no visible reason: `problem` says why and what to do.',
    annotations: READ_ONLY,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Health, DETAILS),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName }) =>
        replyData(await call.pungi.health(venvName), (health) => JSON.stringify(health, null, 2)),
      ),
  };
}

/** The most lines a model gets; a program finds all of them in the structured content. */
const MAX_LINES = 100;

const analyzeCode = (): Tool => ({
  name: 'analyze_code',
  title: 'Analyze Python code',
  description:
    'Check Python code with ruff, without running it: errors (syntax, undefined names), and unless switched off security ' +
    '(rules of Bandit), complexity and style. Comments such as "# noqa" switch nothing off. The first call installs ruff.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(AnalysisRequest),
  outputSchema: advertiseResult(Analysis, ['summary']),
  answer: (args, call) =>
    answer(AnalysisRequest, args, call, async (request, steps) =>
      replyData(await call.pungi.analyze(request, steps), formatAnalysis),
    ),
});

function formatAnalysis({ findings, summary: { total, bySeverity }, tool }: Analysis): string {
  if (total === 0) return `No findings (${tool}).`;
  const { error, warning, info } = bySeverity;
  const shown = findings.slice(0, MAX_LINES);
  const left = total - shown.length;
  return [
    `${countOf(total, 'finding')} (${tool}): ${countOf(error, 'error')}, ${countOf(warning, 'warning')}, ${info} for information`,
    ...shown.map(formatFinding),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}

const formatFinding = ({ line, column, rule, severity, category, message, fix }: Finding) =>
  [
    `${line}:${column}  ${category === severity ? severity : `${category} ${severity}`}  ${rule}  ${message.replaceAll(/\s+/g, ' ')}`,
    ...(fix === null ? [] : [`  fix: ${fix}`]),
  ].join('');
