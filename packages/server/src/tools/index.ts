import { type Config, isServed, type Toolset } from '@pungi/core/config';
import { type Analysis, AnalysisRequest, type Finding } from '@pungi/core/contract';
import type { Profiles } from '@pungi/core/gate';
import { z } from 'zod';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { cancelRun, getRun, listRuns } from './background.js';
import { isStrategicOnly, usablePersonas } from './descriptions.js';
import { createVenv, deleteVenv, listVenvs, setVenvDescription } from './environments.js';
import { executePython, executePythonFile } from './execute-python.js';
import { executeStrategicCode } from './execute-strategic-code.js';
import { listFiles } from './list-files.js';
import { listProfiles } from './list-profiles.js';
import { installPackages, listPackages, uninstallPackages } from './packages.js';
import { readFile } from './read-file.js';
import { readOutput } from './read-output.js';
import { checkpointSession, endSession, listSessions } from './sessions.js';
import { answer, reply, type Tool } from './tool.js';
import { uploadFile } from './upload-file.js';
import { countOf, otherVenv } from './venv-arguments.js';

type ToolsOf = (config: Config, profiles: Profiles) => Tool[];

/** The tools of each group that can work with these settings, what an agent needs most first. */
const GROUPS: readonly [Toolset, ToolsOf][] = [
  ['run', (config, profiles) => [executePython(config, profiles)]],
  ['run', (config) => (config.scriptRoots.length > 0 ? [executePythonFile(config)] : [])],
  ['strategic', (config, profiles) => strategicTools(config, profiles)],
  ['run', (config, profiles) => [listProfiles(config, profiles)]],
  ['run', () => [readOutput(), getRun(), cancelRun(), listRuns()]],
  ['analysis', () => [analyzeCode()]],
  ['packages', (config) => [listPackages(config)]],
  ['packages', (config) => changing(config, installPackages(config), uninstallPackages())],
  ['environments', () => [listVenvs()]],
  ['environments', (config) => changing(config, createVenv(), setVenvDescription(), deleteVenv())],
  ['sessions', () => [listSessions(), checkpointSession(), endSession()]],
  ['files', (config) => (config.artifactMb > 0 ? [readFile(), uploadFile()] : [])],
  ['files', (config, profiles) => (hasFiles(config, profiles) ? [listFiles()] : [])],
  ['health', () => [healthCheck()]],
];

export function toolsFor(config: Config, profiles: Profiles): Tool[] {
  const served = GROUPS.filter(([toolset]) => isServed(config, toolset));
  const tools = served.flatMap(([, toolsOf]) => toolsOf(config, profiles));
  return tools.map((tool) => (LONG_REPLIES.test(tool.name) ? { ...tool, _meta: sizeMeta(config) } : tool));
}

/** Whether read_output is among the tools. */
export const servesOutputs = (config: Config, profiles: Profiles): boolean =>
  isServed(config, 'run') || (isStrategicOnly(config) && usablePersonas(profiles).length > 0);

const LONG_REPLIES = /^(?:execute_|read_|get_run)/;

/** Declares the longest reply, for clients that would else cut it, or hold it back, by a length of their own. */
const sizeMeta = ({ replyChars }: Config) => ({ 'anthropic/maxResultSizeChars': replyChars });

/** Alone, they bring what they need of the other tools that run code. */
function strategicTools(config: Config, profiles: Profiles): Tool[] {
  if (usablePersonas(profiles).length === 0) return [];
  const needed = isStrategicOnly(config) ? [listProfiles(config, profiles), readOutput()] : [];
  return [executeStrategicCode(config, profiles), ...needed];
}

const hasFiles = ({ artifactMb, dataRoots, defaultProfile }: Config, profiles: Profiles): boolean =>
  artifactMb > 0 || dataRoots.length > 0 || profiles.get(defaultProfile).workspace.length > 0;

/** Tools that change environments are offered only if the server's owner allows it. */
const changing = ({ environmentTools }: Config, ...tools: Tool[]): Tool[] => (environmentTools ? tools : []);

function healthCheck(): Tool {
  const Arguments = z.strictObject({ venvName: otherVenv() });
  return {
    name: 'health_check',
    title: 'Server health',
    description: 'See whether the server can run Python, and if not, why.',
    annotations: READ_ONLY,
    inputSchema: advertiseArguments(Arguments, ['venvName']),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName }) =>
        reply(call, await call.pungi.health(venvName), (health) => JSON.stringify(health, null, 2)),
      ),
  };
}

/** The most lines a model gets; a program finds all of them in the structured content. */
const MAX_LINES = 100;

const HIDDEN = ['venvName', 'enableSecurity', 'enableStyle', 'enableComplexity'];

const analyzeCode = (): Tool => ({
  name: 'analyze_code',
  title: 'Analyze Python code',
  description: 'Check Python code with ruff, without running it: errors, security, complexity and style.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(AnalysisRequest, HIDDEN),
  answer: (args, call) =>
    answer(AnalysisRequest, args, call, async (request, steps) =>
      reply(call, await call.pungi.analyze(request, steps), formatAnalysis),
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
