import type { Config } from '../../config/schema.js';
import { analyzeCode } from './analyze-code.js';
import { createVenv } from './create-venv.js';
import { deleteVenv } from './delete-venv.js';
import { executePython } from './execute-python.js';
import { executePythonFile } from './execute-python-file.js';
import { healthCheck } from './health-check.js';
import { installPackages } from './install-packages.js';
import { listPackages } from './list-packages.js';
import { listVenvs } from './list-venvs.js';
import { setVenvDescription } from './set-venv-description.js';
import type { Tool } from './tool.js';
import { uninstallPackages } from './uninstall-packages.js';

export const toolsFor = (config: Config): Tool[] => [
  executePython(config),
  executePythonFile(config),
  analyzeCode(),
  listPackages(config),
  installPackages(config),
  uninstallPackages(config),
  listVenvs(),
  createVenv(config),
  setVenvDescription(),
  deleteVenv(config),
  healthCheck(config),
];
