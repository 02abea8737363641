import { spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PungiError } from '@pungi/core/base';
import { folderFiles, placeFor, register, toolsNameOf, wrapScript, writeFolder } from '@pungi/wrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { until } from '../../../tests/support/until.js';
import { publicInterpreter, sharedPungi, temporaryFolder } from '../../core/tests/engine/pungi.js';
import { keepProgram, readOwnScript, readProgram } from '../src/wrap/read-script.js';
import { PROGRAMS, type ProgramRow } from './program-table.js';
import { serveTools, type ToolServer } from './serve-tools.js';

const ENVIRONMENT = 'programs';
const SETUP_MS = 600_000;
const CALL_MS = 120_000;
const python = await publicInterpreter();

test('docs/wrap.md names every row of the table where it says how it is read', () => {
  const page = readFileSync(new URL('../../../docs/wrap.md', import.meta.url), 'utf8');
  const lines = page.split('\n');
  for (const { wraps, reading, problem, gap } of PROGRAMS) {
    const first = gap ? 'known gap' : problem ? '✗' : reading;
    const line = lines.find((one) => one.startsWith(`| ${first} `) && one.includes(`\`${wraps}\``)) ?? '';
    expect(line, `${first}: ${wraps}`).toContain(gap?.reason ?? problem ?? wraps);
  }
  expect(PROGRAMS.filter(({ returns }) => returns !== undefined).length).toBeGreaterThanOrEqual(30);
});

/** Without a schema of its result, a folder replies with the text alone. */
function checkReply(reply: object, returns: Record<string, unknown>): void {
  if ('structuredContent' in reply) expect(reply).toMatchObject({ structuredContent: returns });
  else expect(reply).toEqual({ content: [{ type: 'text', text: `${returns['result']}` }] });
}

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('real programs', () => {
  const base = temporaryFolder();
  chmodSync(base, 0o755);
  const settings = {
    VENVS_BASE_PATH: join(base, 'environments'),
    TOOLS_DIR: join(base, 'tools'),
    ...(python === '' ? {} : { PUNGI_PYTHON: python }),
  };
  const pungi = sharedPungi(settings);
  const found = new Map<ProgramRow, Awaited<ReturnType<typeof wrapBoth>> | PungiError>();
  let places: { site: string; python: string };
  let server: ToolServer;

  /** Wraps a row for the server, and writes its standalone folder. */
  async function wrapBoth(row: ProgramRow) {
    const isModule = row.wraps.endsWith('.py');
    const own = isModule
      ? readOwnScript(join(places.site, row.wraps))
      : await readProgram(pungi, row.wraps, ENVIRONMENT, settings.TOOLS_DIR);
    if (!isModule) keepProgram(own);
    const stem = own.filename.startsWith('__') ? basename(dirname(row.wraps)) : own.filename;
    const name = row.name ?? own.name ?? toolsNameOf(stem);
    const choice = { environment: ENVIRONMENT, mode: row.mode };
    const { file, look } = await wrapScript(pungi, own, choice, { name, script: own.path, old: undefined });
    register(settings.TOOLS_DIR, toolsNameOf(row.wraps.replaceAll('/', '-')), file);
    const folder = join(base, 'folders', toolsNameOf(row.wraps.replaceAll('/', '-')));
    const within = look.package === undefined ? '' : `${look.package.replaceAll('.', '/')}/`;
    const alone = { ...file, script: `${within}${own.filename}`, environment: null };
    const scripts = [{ file: alone, look, requirement: own.requirement }];
    writeFolder(placeFor(folder, [own.filename], false), folderFiles(folder, name, scripts));
    return { file, problem: look.problem, wrapper: join(folder, 'wrapper.py') };
  }

  /** Calls the tool of a standalone folder, as a client that closes the pipe right after it. */
  async function callAlone(wrapper: string, row: ProgramRow): Promise<object> {
    const child = spawn(places.python, [wrapper], { stdio: ['pipe', 'pipe', 'ignore'] });
    const params = { name: row.tools[0], arguments: row.arguments };
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
    const lines = (await text(child.stdout)).trim().split('\n');
    return JSON.parse(lines.at(-1)!).result;
  }

  beforeAll(async () => {
    const packages = [...new Set(PROGRAMS.map((row) => row.package))];
    await pungi.environments.create({ venvName: ENVIRONMENT, packages });
    const code =
      'import sys, sysconfig\n{"site": sysconfig.get_paths()["purelib"], "python": sys.executable}';
    const { value } = await pungi.run({ code, venvName: ENVIRONMENT });
    places = z.object({ site: z.string(), python: z.string() }).parse(value?.json);
    const rows = PROGRAMS.values();
    const work = async () => {
      for (const row of rows)
        found.set(row, await wrapBoth(row).catch((error: unknown) => PungiError.from(error)));
    };
    await Promise.all([work(), work()]);
    server = await serveTools({ ...settings });
    const callable = PROGRAMS.filter((row) => row.returns !== undefined).map(({ tools }) => tools[0]!);
    await until(
      async () => {
        const names = new Set((await server.list()).map(({ name }) => name));
        return callable.every((name) => names.has(name));
      },
      'the server offers all tools',
      CALL_MS,
    );
  }, SETUP_MS);
  afterAll(() => server?.close());

  test.each(PROGRAMS.map((row) => [row.wraps, row] as const))('%s', { timeout: CALL_MS }, async (_, row) => {
    const wrapped = found.get(row)!;
    const reason = wrapped instanceof PungiError ? wrapped.message : wrapped.problem;
    if (row.problem !== undefined) return expect(reason).toContain(row.problem);
    expect(reason).toBe(null);
    const { file, wrapper } = wrapped as Exclude<typeof wrapped, PungiError>;
    expect(file.tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...row.tools]));
    const tool = file.tools.find(({ name }) => name === row.tools[0])!;
    const parameters = Object.keys(tool.inputSchema.properties ?? {});
    expect(parameters).toEqual(expect.arrayContaining(Object.keys(row.arguments)));
    expect(tool.kind === 'script' ? (tool.parser ?? 'words') : 'functions').toBe(row.reading);
    const [served, alone] = await Promise.all([
      server.call(tool.name, row.arguments),
      callAlone(wrapper, row),
    ]);
    const isGap = row.gap !== undefined && JSON.stringify(served).includes(row.gap.shows);
    if (!isGap) checkReply(served, row.returns!);
    if (row.returns !== undefined) checkReply(alone, row.returns);
    else expect(JSON.stringify(alone)).toContain(row.gap?.shows);
  });
});
