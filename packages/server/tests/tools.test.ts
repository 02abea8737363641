import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect, test } from 'vitest';
import { execute, healthOf, TOOLS, textsOf } from './calls.js';
import { behindEveryDoor } from './doors.js';

behindEveryDoor({}, (door, era) => {
  test('the client speaks the protocol that it asked for', () => {
    expect(door().client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25');
  });

  test('the instructions name the tools for a start', () => {
    const instructions = door().client.getInstructions();
    for (const tool of ['execute_python', 'list_profiles', 'execute_strategic_code', 'health_check'])
      expect(instructions).toContain(tool);
  });

  test('the tools are listed, with what an agent and its client need to know', async () => {
    const { tools } = await door().client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const tool of tools) {
      expect(tool.title).toBeTruthy();
      expect(tool.annotations).toBeDefined();
      expect(tool.inputSchema).toMatchObject({ type: 'object' });
      const runs = /^(execute_|read_|get_run)/.test(tool.name);
      expect(tool._meta).toEqual(runs ? { 'anthropic/maxResultSizeChars': 20_000 } : undefined);
    }
    expect(tools[0]?.description).toContain('30 s wall time');
    expect(tools[0]?.description).toContain('# /// script');
    expect(tools[0]?.inputSchema.required).toEqual(['code']);
  });

  test('the annotations tell which tools change something, and which destroy it', async () => {
    const { tools } = await door().client.listTools();
    // As the protocol reads what is left out.
    const those = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools
        .map(({ name, annotations = {} }) => ({
          name,
          destructiveHint: !annotations.readOnlyHint,
          ...annotations,
        }))
        .filter((tool) => tool[hint])
        .map(({ name }) => name);
    expect(those('readOnlyHint')).toEqual([
      'list_profiles',
      'read_output',
      'get_run',
      'list_runs',
      'analyze_code',
      'list_packages',
      'list_venvs',
      'list_sessions',
      'read_file',
      'list_files',
      'health_check',
    ]);
    expect(those('destructiveHint')).toEqual([
      'cancel_run',
      'install_packages',
      'uninstall_packages',
      'set_venv_description',
      'delete_venv',
      'checkpoint_session',
      'end_session',
    ]);
  });

  test('a limit above its ceiling is lowered, and both halves of the reply say so', async () => {
    const args = { code: 'print(1)', timeoutMs: 900_000, diskMb: 128, processes: 100 };
    const { outcome, texts, isError } = await execute(door().client, args);
    const note = "timeoutMs was lowered from 900000 to 300000, the server's MAX_REQUEST_TIMEOUT_MS.";
    expect(isError).toBe(false);
    expect(outcome.notes).toEqual([note]);
    expect(texts).toEqual([`Note: ${note}`, '1\n']);
  });

  test('code is run: stdout and the value of its last expression come back', async () => {
    const { outcome, texts, isError } = await execute(door().client, { code: 'print("hello")\n[1, 2 + 3]' });
    expect(outcome).toMatchObject({
      verdict: { kind: 'ok' },
      stdout: { text: 'hello\n' },
      value: { json: [1, 5] },
    });
    expect(texts).toEqual(['hello\n', '[1, 5]']);
    expect(isError).toBe(false);
  });

  test('code without output says that it has ended', async () => {
    expect((await execute(door().client, { code: 'x = 1' })).texts).toEqual([
      'The code ended without output.',
    ]);
  });

  test('every kind of input reaches the code', async () => {
    const code = 'import sys\nprint(input(), input(), sys.argv[1:], open("data/a.txt").read(), context["k"])';
    const files = [{ path: 'data/a.txt', text: 'content' }];
    const { outcome } = await execute(door().client, {
      code,
      inputData: ['one', 'two'],
      argv: ['-v'],
      files,
      context: { k: 7 },
    });
    expect(outcome.stdout.text).toBe("one two ['-v'] content 7\n");
    const read = await execute(door().client, { code: 'import sys\nsys.stdin.read()', stdin: 'all of it' });
    expect(read.outcome.value?.repr).toBe("'all of it'");
    // Advertised as an object, because models do better with that.
    const plain = await execute(door().client, { code: 'context', context: [1, null] });
    expect(plain.outcome.value?.json).toEqual([1, null]);
  });

  test('a Python error is an error result: code and sentence first, then the traceback', async () => {
    const { outcome, texts, isError } = await execute(door().client, { code: 'print("before")\n1 / 0' });
    expect(isError).toBe(true);
    expect(outcome.verdict).toMatchObject({
      kind: 'python-error',
      code: 'PYTHON_ERROR',
      exception: { line: 2 },
    });
    expect(texts[0]).toMatch(/^PYTHON_ERROR: .*ZeroDivisionError.*\n(.*\n)*.*1 \/ 0/);
    expect(texts[1]).toBe('before\n');
  });

  test('a run that takes too long is ended with EXECUTION_TIMEOUT', async () => {
    const { outcome, texts } = await execute(door().client, { code: 'while True: pass', timeoutMs: 200 });
    expect(outcome.verdict).toMatchObject({ kind: 'timed-out', code: 'EXECUTION_TIMEOUT', limitMs: 200 });
    expect(texts[0]).toMatch(/^EXECUTION_TIMEOUT: /);
  });

  test.each([
    ['a missing argument', {}, /code/],
    ['an unknown argument', { code: '1', cod: '2' }, /cod/],
    ['an argument that only the engine has', { file: '/etc/hostname' }, /file/],
    ['an argument of another type', { code: 1 }, /code/],
    ['a path out of the work folder', { code: '1', files: [{ path: '../x', text: '' }] }, /files\.0\.path/],
    ['two kinds of standard input', { code: '1', stdin: '', inputData: [] }, /stdin or inputData/],
  ])('%s is answered with INVALID_INPUT and its name', async (_what, args, naming) => {
    const result = await door().client.callTool({ name: 'execute_python', arguments: args });
    expect(result.isError).toBe(true);
    expect(textsOf(result)[0]).toMatch(/^INVALID_INPUT: /);
    expect(textsOf(result)[0]).toMatch(naming);
  });

  test('an unknown tool is a protocol error', async () => {
    await expect(door().client.callTool({ name: 'no_such_tool' })).rejects.toMatchObject({ code: -32602 });
  });

  test('structured content fits the advertised output schemas', async () => {
    const { tools } = await door().client.listTools();
    const check = (tool: string, content: unknown) => {
      const schema = tools.find(({ name }) => name === tool)?.outputSchema ?? {};
      return new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType)(content);
    };
    for (const code of [
      '{"a": [1, None]}',
      'import nothing_of_that_name',
      'import sys; sys.exit(3)',
      'print(',
    ]) {
      for (const replyDetail of ['short', 'full']) {
        const { structuredContent } = await door().client.callTool({
          name: 'execute_python',
          arguments: { code, replyDetail },
        });
        expect(check('execute_python', structuredContent)).toMatchObject({ valid: true });
      }
    }
    expect(check('execute_python', { stdout: 1 })).toMatchObject({ valid: false });
  });

  test("health_check's text is its answer as JSON, of the promised shape", async () => {
    const health = await door().client.callTool({ name: 'health_check' });
    const [text, ...others] = textsOf(health);
    expect(others).toEqual([]);
    const told = JSON.parse(text!);
    expect(told).toEqual(health.structuredContent);
    expect(told).toMatchObject({
      status: 'healthy',
      version: expect.any(String),
      pythonVersion: expect.stringMatching(/^Python 3\./),
      config: { maxMemoryMb: 512, executionTimeoutMs: 30_000 },
      metrics: {
        totalExecutions: expect.any(Number),
        totalErrors: expect.any(Number),
        successRate: expect.any(Number),
        averageExecutionTimeMs: expect.any(Number),
        averageMemoryUsageMb: expect.any(Number),
        latencyMs: { p95: expect.any(Number) },
      },
    });
  });

  test('health_check counts what this server has run', async () => {
    const { client } = door();
    const before = (await healthOf(client)).metrics.totalExecutions;
    await execute(client, { code: '1' });
    const health = await healthOf(client);
    expect(health).toMatchObject({ status: 'healthy', problem: null });
    expect(health.metrics.totalExecutions).toBe(before + 1);
    expect(health.pythonVersion).toMatch(/^Python 3\.\d+/);
  });

  test('concurrent calls and clients get their own answers', async () => {
    const clients = [door().client, await door().another()];
    const calls = clients.flatMap((client, index) =>
      Array.from({ length: 6 }, (_, call) => execute(client, { code: `${index} * 100 + ${call}` })),
    );
    const values = (await Promise.all(calls)).map(({ outcome }) => outcome.value?.json);
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105]);
  });
});
