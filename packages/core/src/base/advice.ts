/** The interface that Pungi is used through: a server records its start in the audit trail, a command does not. */
export type Door = 'server' | 'library' | 'command';

/**
 * Suggests the next step in the caller's terms: tools for an MCP client, commands for a person, methods for a
 * program.
 */
export interface Advice {
  /** With no names, explains how packages are installed in general. */
  install(environment: string, names: readonly string[]): string;
  /** For a module whose package is unknown. */
  installOther(environment: string): string;
  /** For a file of the caller. */
  passFile(path: string): string;
  createEnvironment(name: string): string;
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

const ADVICE: Record<Door, Advice> = {
  server: {
    install: (environment, names) =>
      names.length === 0
        ? `install them with the tool install_packages: venvName "${environment}"`
        : `install ${them(names)} with the tool install_packages: packages [${quoted(names)}], venvName "${environment}"`,
    installOther: (environment) =>
      `install it by its name on the package index with the tool install_packages, venvName "${environment}"`,
    passFile: (path) => `pass it in files, as "${path}"`,
    createEnvironment: () => 'list_venvs shows those that exist; create_venv creates one.',
  },
  command: {
    install: (environment, names) =>
      `install ${them(names)} with: pungi env install ${environment} ${names.join(' ') || 'PACKAGE'}`,
    installOther: (environment) =>
      `install it by its name on the package index with: pungi env install ${environment} PACKAGE`,
    passFile: (path) => `pass it with --file ${path}`,
    createEnvironment: (name) => `Create it with: pungi env create ${name}`,
  },
  library: {
    install: (environment, names) =>
      `install ${them(names)} with environments.install("${environment}", [${quoted(names) || '…'}])`,
    installOther: (environment) =>
      `install it by its name on the package index with environments.install("${environment}", […])`,
    passFile: (path) => `pass it in files, as "${path}"`,
    createEnvironment: (name) => `Create it with environments.create({ venvName: "${name}" })`,
  },
};

/** For a server that does not offer the tools that change environments. */
const NOT_OFFERED: Advice = {
  ...ADVICE.server,
  install: (_, names) =>
    `ask the administrator of this server to install ${names.length > 1 ? names.join(', ') : them(names)}`,
  installOther: () => 'ask the administrator of this server to install it',
  createEnvironment: () => 'list_venvs shows those that exist.',
};

const them = (names: readonly string[]) => (names.length === 1 ? 'it' : 'them');

export const adviceFor = (door: Door, hasEnvironmentTools: boolean): Advice =>
  door === 'server' && !hasEnvironmentTools ? NOT_OFFERED : ADVICE[door];
