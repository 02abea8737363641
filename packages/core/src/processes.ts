export { findProgram, ServerProcess } from './runtime/server-process.js';
export { findInterpreter } from './sandbox/interpreter.js';
export { PYTHON_HALF } from './sandbox/spawn.js';
