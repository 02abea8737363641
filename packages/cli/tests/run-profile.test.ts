import { describe, expect, test } from 'vitest';
import { profilePlace } from './profile-place.js';

const { call, write } = profilePlace();

describe('pungi run --profile', () => {
  test('gives the code what the profile has, and tells on standard error what it does', async () => {
    const code =
      'print(team, [one["path"] for one in available_data], open("data/sales/2026.csv").read().split())';
    const { status, stdout, stderr } = await call(['run', '--profile', 'quarterly', '-c', code]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: "reports ['data/sales/2026.csv'] ['month,units', '1,7']\n",
    });
    expect(stderr.split('\n')).toEqual([
      '🔧 Accessing MCP Server: pungi',
      '*Executing Python with the profile quarterly...*',
      expect.stringMatching(/^\*Code scope: .+\*$/),
      expect.stringMatching(/^\*Security: Sandboxed execution with resource limits/),
      '',
    ]);
  });

  test('refuses what leaves the scope, with 77 and every place', async () => {
    const script = write('leaves.py', 'import socket\nimport ctypes\n');
    const { status, stdout, stderr } = await call(['run', '-p', 'quarterly', script]);
    expect({ status, stdout }).toEqual({ status: 77, stdout: '' });
    expect(stderr).toMatch(/^leaves\.py:1:1 import /m);
    expect(stderr).toMatch(/^leaves\.py:2:1 import /m);
    expect(stderr).toMatch(/^pungi: .*Line 1, column 1/m);
  });

  test('tells what it did after everything else', async () => {
    const code = 'import sys; print("to stderr", file=sys.stderr)\nraise ValueError("no")';
    const failed = await call(['run', '-p', 'reports', '--capability', 'tea', '-c', code]);
    expect(failed.stderr).toMatch(
      /^to stderr\n[\s\S]*\npungi: ValueError: no[^\n]*\n🔧 Accessing MCP Server: pungi \(tea\)\n/,
    );
    expect(failed.stderr).toMatch(/\*Security: [^\n]+\*\n$/);
  });

  test.each([
    ['as it is', '{"rate": [0.5]}'],
    ['from a file', '@context.json'],
  ])('hands over a context %s', async (_, given) => {
    write('context.json', '{"rate": [0.5]}');
    const { stdout } = await call(['run', '--context', given, '-c', 'print(context["rate"])']);
    expect(stdout).toBe('[0.5]\n');
  });

  test.each([
    ['{rate: 1}', /^pungi: --context must be JSON, [^\n]+\n$/],
    ['@none.json', /^pungi: [^\n]*none.json[^\n]+\n$/],
    ['@profiles.yaml', /^pungi: The file profiles.yaml must be JSON, [^\n]+\n$/],
  ])('refuses the context %s in one sentence', async (given, sentence) => {
    const { status, stdout, stderr } = await call(['run', '--context', given, '-c', '1']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
  });

  test('with --json keeps standard error free', async () => {
    const { status, stdout, stderr } = await call(['run', '-p', 'reports', '--json', '-c', '1']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'reports',
      cached: null,
      disclosure: { profile: 'reports', persona: null, server: 'pungi' },
    });
  });

  test('cannot go beyond ALLOWED_PROFILES', async () => {
    const { status, stderr } = await call(['run', '-p', 'quarterly', '-c', '1'], {
      ALLOWED_PROFILES: 'reports',
    });
    expect(status).toBe(77);
    expect(stderr).toBe('pungi: The profile "quarterly" may not be used. This server allows: reports.\n');
  });

  test('with a file that is wrong runs nothing', async () => {
    const file = write('wrong.yaml', 'profiles:\n  a: {cache_ttl: soon}\n');
    const { status, stdout, stderr } = await call(['run', '--profiles-file', file, '-c', 'print(1)']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(
      /^pungi: The profiles file wrong\.yaml .*line 2, profile "a", cache_ttl: must be a number.*\n$/,
    );
  });
});

test('with a file that is wrong in many ways, points to the check and tells the first three', async () => {
  const keys = Array.from({ length: 30 }, (_, index) => `    no_such_key_${index}: 1\n`).join('');
  const file = write('awful.yaml', `profiles:\n  a:\n${keys}`);
  const { status, stderr } = await call(['run', '--profiles-file', file, '-c', 'print(1)']);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^pungi: [^\n]*: 30 problems; see: pungi profile check awful.yaml [^\n]*\n$/);
  expect(stderr).toContain('no_such_key_2:');
  expect(stderr).not.toContain('no_such_key_3:');
});
