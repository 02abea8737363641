/** Who starts Pungi: a server says so in its audit trail, a command does not. */
export type Door = 'server' | 'library' | 'command';

/** What to do next, in the terms of whoever asks: the tools of a client, the commands of a person, the methods of a program. */
export interface Advice {
  /** Without names: how packages are installed at all. */
  install(environment: string, names: readonly string[]): string;
  /** For a package whose name nobody knows. */
  installOther(environment: string): string;
  /** For a file of the caller's own. */
  handOver(path: string): string;
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
    handOver: (path) => `pass it in files, as "${path}"`,
    createEnvironment: () => 'list_venvs shows those that exist; create_venv creates one.',
  },
  command: {
    install: (environment, names) =>
      `install ${them(names)} with: pungi env install ${environment} ${names.join(' ') || 'PACKAGE'}`,
    installOther: (environment) =>
      `install it by its name on the package index with: pungi env install ${environment} PACKAGE`,
    handOver: (path) => `hand it over with --file ${path}`,
    createEnvironment: (name) => `Create it with: pungi env create ${name}`,
  },
  library: {
    install: (environment, names) =>
      `install ${them(names)} with environments.install("${environment}", [${quoted(names) || '…'}])`,
    installOther: (environment) =>
      `install it by its name on the package index with environments.install("${environment}", […])`,
    handOver: (path) => `pass it in files, as "${path}"`,
    createEnvironment: (name) => `Create it with environments.create({ venvName: "${name}" })`,
  },
};

/** A server whose environments are its owner's alone. */
const NOT_OFFERED: Advice = {
  ...ADVICE.server,
  install: (_, names) =>
    `ask whoever runs this server to install ${names.length > 1 ? names.join(', ') : them(names)}`,
  installOther: () => 'ask whoever runs this server to install it',
  createEnvironment: () => 'list_venvs shows those that exist.',
};

const them = (names: readonly string[]) => (names.length === 1 ? 'it' : 'them');

export const adviceFor = (door: Door, hasEnvironmentTools: boolean): Advice =>
  door === 'server' && !hasEnvironmentTools ? NOT_OFFERED : ADVICE[door];
