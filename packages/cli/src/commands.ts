import { type Commands, executeCommand } from './command-line.js';

/** Loads one command: the others, and what they import, stay unloaded. */
export const COMMANDS: Commands = {
  serve: async () => (await import('./serve.js')).serveCommand,
  worker: async () => (await import('./worker.js')).workerCommand,
  cluster: async () => (await import('./cluster/command.js')).clusterCommand,
  run: async () => (await import('./run.js')).runCommand,
  shell: async () => (await import('./shell/command.js')).shellCommand,
  files: async () => (await import('./files/command.js')).filesCommand,
  env: async () => (await import('./env/command.js')).envCommand,
  profile: async () => (await import('./profile/command.js')).profileCommand,
  wrap: async () => (await import('./wrap/command.js')).wrapCommand,
  test: async () => (await import('./test/command.js')).testCommand,
  audit: async () => (await import('./audit/command.js')).auditCommand,
  analyze: async () => (await import('./analyze.js')).analyzeCommand,
  doctor: async () => (await import('./doctor/command.js')).doctorCommand,
};

/** Runs one command and resolves to the exit status of the process. Never throws. */
export const runCommandLine = (argv: readonly string[]): Promise<number> => executeCommand(COMMANDS, argv);
