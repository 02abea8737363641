import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];

/** Proven by tests of their own: they would start this very run again, or never end. */
const PROVEN_ELSEWHERE = /^npm (start|test)\b/;

const blocksOf = (page: string, language: string) =>
  [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'),
    ),
  ].map((match) => match[1]!);

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-docs-'));
  const shim = join(folder, 'pungi');
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/main.js')}' "$@"\n`);
  chmodSync(shim, 0o755);
  env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const commands = pages.flatMap((page) =>
  blocksOf(page, 'sh')
    .flatMap((block) => block.trim().split('\n'))
    .filter((line) => line !== '' && !PROVEN_ELSEWHERE.test(line))
    .map((line) => ({ page, line, status: Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0) })),
);

describe('every command that the documentation shows', () => {
  test('is found', () => expect(commands.length).toBeGreaterThan(8));

  test.each(commands)('$page: $line', ({ line, status }) => {
    const run = spawnSync('sh', ['-c', line], { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
    expect(run.stderr + run.stdout).not.toContain('not found');
    expect(run.status).toBe(status);
  });
});

describe('every program that the documentation shows', () => {
  const programs = pages
    .map((page) => ({ page, blocks: blocksOf(page, 'ts') }))
    .filter(({ blocks }) => blocks.length > 0);

  test.each(programs)('$page', ({ page, blocks }) => {
    const library = JSON.stringify(join(root, 'dist/index.js'));
    const program = join(folder, `${page.replaceAll(/\W/g, '-')}.mjs`);
    writeFileSync(program, `${blocks.join('\n').replaceAll("'pungi'", library)}\nawait pungi.close();\n`);
    const run = spawnSync(process.execPath, [program], {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(run.stderr).not.toContain('Error');
    expect(run.status).toBe(0);
  });
});
