import type { Config } from '@pungi/core/config';
import type { Profiles } from '@pungi/core/gate';
import { isStrategicOnly, usablePersonas } from './tools/descriptions.js';

const STRATEGIC = [
  'Strategic analysis with Python: execute_strategic_code runs code as one of the personas, in a fresh sandboxed process for every call.',
  'list_profiles shows what code of a persona may import, its data and its limits.',
  'Code outside the strategic scope is refused with its line. Replies begin with a disclosure: show it.',
].join('\n');

/** Says which tool is for what, and how they work together. Each tool's description says what it does. */
export function instructionsFor(config: Config, profiles: Profiles): string {
  if (isStrategicOnly(config)) return STRATEGIC;
  const { environmentTools, scriptRoots, toolsDir, wrapTools } = config;
  return [
    `Runs Python, a fresh process for every call: execute_python for code${scriptRoots.length > 0 ? ', execute_python_file for a file of the server' : ''}. analyze_code checks code without running it.`,
    `list_packages shows what code can import. ${environmentTools ? 'Get other packages with install_packages, or name them' : 'Name other packages'} in a "# /// script" block at the top of the code.`,
    environmentTools
      ? 'To keep sets of packages apart, use named environments (create_venv, list_venvs, delete_venv) and pass venvName.'
      : 'Other sets of packages are in named environments (list_venvs): pass venvName.',
    'A profile sets rules for code, and provides data and packages (list_profiles): pass profile.',
    ...(usablePersonas(profiles).length > 0
      ? ['execute_strategic_code is for strategic analysis as one of the personas.']
      : []),
    ...(toolsDir !== undefined && toolsDir !== 'off'
      ? ["Other tools come from this server's own Python scripts (list_wrapped)."]
      : []),
    ...(wrapTools && toolsDir !== 'off' ? ['wrap_script turns your script into tools.'] : []),
    'When calls fail for no visible reason, see health_check.',
  ].join('\n');
}
