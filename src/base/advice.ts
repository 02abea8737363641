/** Who starts Pungi: a server says so in its audit trail, a command does not. */
export type Door = 'server' | 'library' | 'command';

/** What to do next, in the terms of whoever asks: the tools of a client, the commands of a person, the methods of a program. */
export interface Advice {
  install(environment: string, name: string): string;
  createEnvironment(name: string): string;
}

const ADVICE: Record<Door, Advice> = {
  server: {
    install: (environment, name) =>
      `install it with the tool install_packages: packages ["${name}"], venvName "${environment}"`,
    createEnvironment: () => 'list_venvs shows those that exist; create_venv creates one.',
  },
  command: {
    install: (environment, name) => `install it with: pungi env install ${environment} ${name}`,
    createEnvironment: (name) => `Create it with: pungi env create ${name}`,
  },
  library: {
    install: (environment, name) => `install it with environments.install("${environment}", ["${name}"])`,
    createEnvironment: (name) => `Create it with environments.create({ venvName: "${name}" })`,
  },
};

/** A server whose environments are its owner's alone. */
const NOT_OFFERED: Advice = {
  install: () => 'ask whoever runs this server to install it',
  createEnvironment: () => 'list_venvs shows those that exist.',
};

export const adviceFor = (door: Door, hasEnvironmentTools: boolean): Advice =>
  door === 'server' && !hasEnvironmentTools ? NOT_OFFERED : ADVICE[door];
