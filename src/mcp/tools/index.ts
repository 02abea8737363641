import type { Config } from '../../config/schema.js';
import { executePython } from './execute-python.js';
import { executePythonFile } from './execute-python-file.js';
import { healthCheck } from './health-check.js';
import type { Tool } from './tool.js';

export const toolsFor = (config: Config): Tool[] => [
  executePython(config),
  executePythonFile(config),
  healthCheck(),
];
