import { spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAIN } from '../support/main.js';
import { type PackageIndex, startPackageIndex } from '../support/package-index.js';
import { ensureUv } from '../support/uv.js';

const root = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    // Its commands are a cluster, which cluster.test.ts starts.
    .filter((name) => name.endsWith('.md') && name !== 'cluster.md')
    .map((name) => `docs/${name}`),
  'examples/wrap/README.md',
];

/** Small packages with the names that the documentation shows, so that the commands need no network. */
const SHOWN = [
  'numpy',
  'pandas',
  'pyarrow',
  'openpyxl',
  'matplotlib',
  'tabulate',
  'jinja2',
  'scikit-learn',
].map((name) => ({ name, version: '3.0' }));

/** Proven by tests of their own: they would start this very run again, or never end. */
const PROVEN_ELSEWHERE = /^npm (start|test)\b/;

const blocksOf = (page: string, language: string) =>
  [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'),
    ),
  ].map((match) => match[1]!);

/** Files that a page shows in full: blocks whose first line is their name. */
const filesOf = (page: string) =>
  ['yaml', 'python'].flatMap((language) =>
    blocksOf(page, language).flatMap((block) => {
      const name = /^# (\S+\.(?:yaml|py))\n/.exec(block)?.[1];
      return name === undefined ? [] : [[name, block] as const];
    }),
  );

let folder: string;
let env: NodeJS.ProcessEnv;
let index: PackageIndex;

beforeAll(async () => {
  const uv = await ensureUv();
  index = await startPackageIndex(SHOWN);
  folder = mkdtempSync(join(tmpdir(), 'pungi-docs-'));
  cpSync(join(root, 'examples/wrap'), folder, { recursive: true });
  for (const [name, content] of pages.flatMap(filesOf)) writeFileSync(join(folder, name), content);
  const shim = join(folder, 'pungi');
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(shim, 0o755);
  const environments = join(folder, 'environments');
  env = {
    ...process.env,
    ...index.env,
    PATH: `${folder}:${process.env['PATH']}`,
    PUNGI_UV: uv,
    VENVS_BASE_PATH: environments,
    AUDIT_DIR: join(folder, 'audit'),
    TOOLS_DIR: join(folder, 'tools'),
  };
});
afterAll(async () => {
  await index.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Without blocking: the package index answers from this process. */
async function run(
  command: string,
  args: string[],
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(command, args, { cwd: folder, env, timeout: 60_000 });
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

const commands = pages.flatMap((page) =>
  blocksOf(page, 'sh')
    .flatMap((block) => block.trim().split('\n'))
    .filter((line) => line !== '' && !PROVEN_ELSEWHERE.test(line))
    .map((line) => ({ page, line, status: Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0) })),
);

describe('every command that the documentation shows', () => {
  test('is found', () => expect(commands.length).toBeGreaterThan(8));

  test.each(commands)('$page: $line', async ({ line, status }) => {
    const ended = await run('sh', ['-c', line]);
    expect(ended.stderr + ended.stdout).not.toContain('not found');
    expect(ended.status, ended.stderr).toBe(status);
  });
});

describe('every program that the documentation shows', () => {
  const programs = pages
    .map((page) => ({ page, blocks: blocksOf(page, 'ts') }))
    .filter(({ blocks }) => blocks.length > 0);

  test.each(programs)('$page', async ({ page, blocks }) => {
    const library = JSON.stringify(join(root, 'dist/pungi/src/index.js'));
    const program = join(folder, `${page.replaceAll(/\W/g, '-')}.mjs`);
    writeFileSync(program, `${blocks.join('\n').replaceAll("'pungi'", library)}\nawait pungi.close();\n`);
    const ended = await run(process.execPath, [program]);
    expect(ended.stderr).not.toContain('Error');
    expect(ended.status).toBe(0);
  });
});
