import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { MAIN } from '../../../tests/support/main.js';
import { until } from '../../../tests/support/until.js';
import { findInterpreter } from '../../core/src/sandbox/interpreter.js';
import { type Ended, environmentOf, type Running, start } from './pungi.js';

const LIST_MODULES = resolve(import.meta.dirname, 'fixtures/list-modules.cjs');
const { path: PUNGI_PYTHON } = await findInterpreter();

/** A user with folders of their own, and maybe a server. */
export class SharedPlace {
  readonly state = mkdtempSync(join(tmpdir(), 'pungi-shared-'));
  readonly sockets = join(this.state, 'pungi/servers');
  readonly env = { XDG_STATE_HOME: this.state, PUNGI_PYTHON, SHARE_SERVER: 'true' };

  names = (): string[] => {
    try {
      return readdirSync(this.sockets);
    } catch {
      return [];
    }
  };

  /** Starts `pungi serve`; resolves when commands can use it, or when it has said this instead. */
  async serve(env: Record<string, string> = {}, said?: string): Promise<Running> {
    const before = this.names();
    const server = start(['serve', '--http', '127.0.0.1:0'], {
      env: { LOG_LEVEL: 'info', ...this.env, ...env },
    });
    if (said !== undefined) await server.shows('stderr', said);
    else await until(() => this.names().some((name) => !before.includes(name)), 'the server has a socket');
    return server;
  }

  command(args: string[], { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {}): Running {
    return start(['run', ...args], {
      env: { LOG_LEVEL: 'info', ...this.env, ...env },
      ...(cwd !== undefined && { cwd }),
    });
  }

  /** Runs a command that a shell has prepared, such as with other limits; says whether a server did the run. */
  async runAfter(prepared: string, args: string[]): Promise<boolean> {
    const list = join(mkdtempSync(join(this.state, 'modules-')), 'list');
    const env = environmentOf({ LOG_LEVEL: 'info', ...this.env, ...listing(list) });
    const program = [process.execPath, MAIN, 'run', ...args];
    const running = promisify(execFile)('sh', ['-c', `${prepared} "$@"`, 'sh', ...program], { env });
    running.child.stdin?.end();
    await running;
    return isByServer(list);
  }

  /** Runs a command, and says whether a server did the run: without one, the command starts processes. */
  async run(
    args: string[],
    { input = '', env = {}, cwd }: { input?: string; env?: Record<string, string>; cwd?: string } = {},
  ): Promise<Ended & { byServer: boolean }> {
    const list = join(mkdtempSync(join(this.state, 'modules-')), 'list');
    const { child, ended } = this.command(args, {
      env: { ...listing(list), ...env },
      ...(cwd !== undefined && { cwd }),
    });
    child.stdin.end(input);
    const end = await ended;
    return { ...end, byServer: isByServer(list) };
  }
}

const listing = (list: string) => ({ NODE_OPTIONS: `--require=${LIST_MODULES}`, LOADED_MODULES: list });
const isByServer = (list: string) => !readFileSync(list, 'utf8').includes('NativeModule child_process\n');
