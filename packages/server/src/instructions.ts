import { type Config, isServed } from '@pungi/core/config';
import type { Profiles } from '@pungi/core/gate';
import { isStrategicOnly, usablePersonas } from './tools/descriptions.js';

const STRATEGIC = [
  'Strategic analysis with Python: execute_strategic_code runs code as one of the personas, in a fresh sandboxed process for every call.',
  'list_profiles shows what code of a persona may import, its data and its limits.',
  'Code outside the strategic scope is refused with its line. Replies begin with a disclosure: show it.',
];

/** Says which tool is for what, and how they work together. Each tool's description says what it does. */
export function instructionsFor(config: Config, profiles: Profiles): string {
  const served = (toolset: Parameters<typeof isServed>[1]) => isServed(config, toolset);
  const { wrapTools, toolsDir } = config;
  return [
    ...(isStrategicOnly(config) ? STRATEGIC : []),
    ...(served('run') ? aboutRuns(config, profiles) : []),
    ...(served('analysis') ? ['analyze_code checks code without running it.'] : []),
    ...(served('packages') ? [aboutPackages(config)] : []),
    ...(served('environments') ? [aboutEnvironments(config)] : []),
    ...(served('wrap') && toolsDir !== undefined && toolsDir !== 'off'
      ? ["Other tools come from this server's own Python scripts (list_wrapped)."]
      : []),
    ...(served('wrap') && wrapTools && toolsDir !== 'off'
      ? ['wrap_script turns your script into tools.']
      : []),
    ...(served('health') ? ['When calls fail for no visible reason, see health_check.'] : []),
  ].join('\n');
}

const aboutRuns = (config: Config, profiles: Profiles): string[] => [
  `Runs Python, a fresh process for every call: execute_python for code${config.scriptRoots.length > 0 ? ', execute_python_file for a file of the server' : ''}. read_output shows the rest of a cut reply.`,
  'Name packages that code needs in a "# /// script" block at its top.',
  'A profile sets rules for code, and provides data and packages (list_profiles): pass profile.',
  ...(isServed(config, 'strategic') && usablePersonas(profiles).length > 0
    ? ['execute_strategic_code is for strategic analysis as one of the personas.']
    : []),
];

const aboutPackages = ({ environmentTools }: Config) =>
  `list_packages shows what code can import.${environmentTools ? ' Get other packages with install_packages.' : ''}`;

const aboutEnvironments = ({ environmentTools }: Config) =>
  environmentTools
    ? 'To keep sets of packages apart, use named environments (create_venv, list_venvs, delete_venv) and pass venvName.'
    : 'Other sets of packages are in named environments (list_venvs): pass venvName.';
