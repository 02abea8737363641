import type { Config } from '../../config/schema.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { analyzeCode } from './analyze-code.js';
import { createVenv } from './create-venv.js';
import { deleteVenv } from './delete-venv.js';
import { usablePersonas } from './describe-profiles.js';
import { executePython } from './execute-python.js';
import { executePythonFile } from './execute-python-file.js';
import { executeStrategicCode } from './execute-strategic-code.js';
import { healthCheck } from './health-check.js';
import { installPackages } from './install-packages.js';
import { listPackages } from './list-packages.js';
import { listProfiles } from './list-profiles.js';
import { listVenvs } from './list-venvs.js';
import { setVenvDescription } from './set-venv-description.js';
import type { Tool } from './tool.js';
import { isAlone } from './toolsets.js';
import { uninstallPackages } from './uninstall-packages.js';

export const toolsFor = (config: Config, profiles: Profiles): Tool[] =>
  isAlone(config) ? strategicTools(config, profiles) : allTools(config, profiles);

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
  healthCheck(config),
];

/** Tools that change environments are only offered where the server's owner leaves that to clients. */
const changing = ({ environmentTools }: Config, ...tools: Tool[]): Tool[] => (environmentTools ? tools : []);
