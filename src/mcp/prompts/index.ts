import type { Pungi } from '../../pungi.js';
import { usablePersonas } from '../tools/describe-profiles.js';
import { isAlone } from '../tools/toolsets.js';
import { createVenv } from './create-venv.js';
import { debugPython } from './debug-python.js';
import { executePython } from './execute-python.js';
import { installPackages } from './install-packages.js';
import type { Prompt } from './prompt.js';
import { strategicAnalysis } from './strategic-analysis.js';

export const promptsFor = (pungi: Pungi): Prompt[] => [
  ...(isAlone(pungi.config) ? [] : generalPrompts(pungi)),
  ...(usablePersonas(pungi.profiles).length > 0 ? [strategicAnalysis(pungi.profiles)] : []),
];

const generalPrompts = (pungi: Pungi): Prompt[] => [
  executePython(pungi),
  debugPython(pungi),
  ...(pungi.config.environmentTools ? [installPackages(pungi), createVenv()] : []),
];
