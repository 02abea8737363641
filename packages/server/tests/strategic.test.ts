import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { py } from '../../../tests/support/python.js';
import { StrategicResult } from '../src/tools/execute-strategic-code.js';
import { call, textsOf } from './calls.js';
import { behindTwoDoors, TWO_DOORS } from './doors.js';

/** The strategic profile without packages: what is tested here is the same, and needs no index. */
const file = join(temporaryFolder(), 'profiles.yaml');
const SENTENCE = 'Code outside strategic scope. Only strategic analysis allowed.';
writeFileSync(
  file,
  `
profiles:
  strategic:
    description: Strategic analysis
    limits: { timeoutMs: 5000 }
    allowedImports: [json, datetime, math, statistics, collections]
    blockedImports: [os, sys, subprocess, socket]
    blockedBuiltins: [open, exec, eval, globals]
    blockedOperations: [file, process, network, introspection]
    scopeMessage: ${SENTENCE}
    contextVariable: strategic_context
    cacheTtl: 1800
    disclosure: true
  hasty:
    description: Somebody in a hurry
    extends: strategic
    limits: { timeoutMs: 300 }
    templateVars: { persona: hasty, role: Haste }
`,
);

const SETTINGS = { PROFILES_FILE: file, ALLOWED_PROFILES: 'default,diego,alvaro,hasty' };

async function ask(client: Client, asked: Record<string, unknown>) {
  const answered = await client.callTool({
    name: 'execute_strategic_code',
    arguments: { persona: 'diego', capability: 'roi_calculations', replyDetail: 'full', ...asked },
  });
  return {
    result: answered.structuredContent as StrategicResult,
    texts: textsOf(answered),
    isError: answered.isError === true,
  };
}

behindTwoDoors(SETTINGS, (door) => {
  test('venvName names the environment that the analysis runs in', async () => {
    const { client } = door();
    await call(client, 'create_venv', { venvName: 'board' });
    const { result } = await ask(client, { code: '1 + 1', venvName: 'board' });
    expect(result.outcome).toMatchObject({ environment: 'board', value: { json: 2 } });
    const { result: absent } = await ask(client, { code: '1 + 1', venvName: 'absent' });
    expect(absent).toMatchObject({
      success: false,
      error: expect.stringContaining('There is no environment "absent"'),
    });
    const wrong = await call(client, 'execute_strategic_code', { code: '1', persona: 'diego', venvName: 3 });
    expect(wrong.text).toContain('- venvName: must be a text');
    await call(client, 'delete_venv', { venvName: 'board', confirm: true });
  });

  test('the result has the fields of the strategic server, and the outcome', async () => {
    const code = py`
      rate = 0.1
      print("NPV", round(sum(flow / (1 + rate) ** year for year, flow in enumerate(strategic_context["flows"])), 2))
      {"roi": 0.25}
    `;
    const context = { flows: [-100, 60, 70] };
    const { result, isError } = await ask(door().client, { code: code, context });
    expect(StrategicResult.parse(result)).toMatchObject({
      success: true,
      output: "NPV 12.4\n{'roi': 0.25}",
      error: null,
      persona_context: 'diego',
      capability: 'roi_calculations',
      violations: [],
      cached: null,
      disclosure: { server: 'strategic-python', capability: 'roi_calculations', persona: 'diego' },
      outcome: { verdict: { kind: 'ok' }, profile: 'diego', value: { json: { roi: 0.25 } } },
    });
    expect(isError).toBe(false);
    expect(result.execution_time).toBeCloseTo(result.outcome.usage.wallMs / 1000, 6);
    expect(Number.isInteger(result.memory_usage)).toBe(true);
    expect(result.memory_usage).toBeGreaterThan(1024 * 1024);
  });

  test('the text begins with the disclosure, and the output follows', async () => {
    const { texts, result } = await ask(door().client, {
      code: `import math\nprint(math.floor(2.5))\n"value"`,
    });
    expect(texts).toEqual([result.disclosure?.text, '2\n', "'value'"]);
    expect(texts[0]).toMatch(
      /^🔧 Accessing MCP Server: strategic-python \(roi_calculations\)\n\*Executing strategic Python analysis for diego persona\.\.\.\*\n\*Code scope: .*math.*\*\n\*Security: Sandboxed/,
    );
  });

  test('persona, role, context and data are real values in the code', async () => {
    const code = `[persona, role, strategic_context, context is strategic_context or context == strategic_context, available_data]`;
    const { result } = await ask(door().client, {
      code,
      persona: 'alvaro',
      context: { a: [1, null, { b: true }] },
    });
    expect(result.outcome.value?.json).toEqual([
      'alvaro',
      'Business Strategy',
      { a: [1, null, { b: true }] },
      true,
      [],
    ]);
    const bare = await ask(door().client, { code: '[strategic_context, context]' });
    expect(bare.result.outcome.value?.json).toEqual([{}, {}]);
  });

  test('code outside of the scope is answered with the sentence, the line and the reason', async () => {
    const { result, texts, isError } = await ask(door().client, {
      code: 'print(1)\nimport os\nopen("/etc/passwd")',
    });
    expect(isError).toBe(true);
    expect(result).toMatchObject({ success: false, output: '', persona_context: 'diego' });
    expect(result.error?.startsWith(`${SENTENCE} Line 2, column 1: `)).toBe(true);
    expect(result.error).toContain('os');
    expect(result.violations).toMatchObject([
      { line: 2, rule: 'import', what: 'os' },
      { line: 3, rule: 'builtin', what: 'open' },
    ]);
    const refused = texts.find((text) => text.startsWith('DENIED: '));
    expect(refused).toContain(SENTENCE);
    expect(refused).toMatch(/^- 3:\d+ .*open/m);
    expect(texts[0]).toBe(result.disclosure?.text);
  });

  test('neither a capability nor a context is needed, and null is none', async () => {
    for (const asked of [
      { capability: undefined, context: undefined },
      { capability: null, context: null, fresh: null },
    ]) {
      const { result, texts } = await ask(door().client, { code: 'strategic_context', ...asked });
      expect(result).toMatchObject({ success: true, output: '{}', capability: null });
      expect(texts[0]).toMatch(/^🔧 Accessing MCP Server: strategic-python\n/);
    }
  });

  test('a module that the scope leaves out is missing for code with a fallback', async () => {
    const code = py`
      try:
          import scipy
      except ImportError:
          scipy = None
      scipy is None
    `;
    expect((await ask(door().client, { code })).result).toMatchObject({ success: true, output: 'True' });
  });

  test('profiles are listed by what they are for', async () => {
    const list = async (args: Record<string, unknown>) => {
      const { data } = await call(door().client, 'list_profiles', args);
      return (data as { profiles: { name: string }[] }).profiles.map(({ name }) => name);
    };
    expect(await list({})).toEqual(['default', 'diego', 'alvaro', 'hasty']);
    expect(await list({ capability: 'roi_calculations' })).toEqual(['diego', 'alvaro', 'hasty']);
    expect((await call(door().client, 'list_profiles', { capability: 'gardening' })).text).toContain(
      'executive_reporting',
    );
  });

  test('what only mentions a forbidden thing is fine', async () => {
    const { result } = await ask(door().client, {
      code: `# import os\n"open(1) and import subprocess"`,
    });
    expect(result).toMatchObject({ success: true, output: "'open(1) and import subprocess'" });
  });

  test('a timeout and an exception are told in a sentence', async () => {
    const late = await ask(door().client, { code: 'while True: pass', persona: 'hasty' });
    expect(late.result).toMatchObject({
      success: false,
      error: expect.stringMatching(/^Execution timeout exceeded\. .*300 ms/),
      persona_context: 'hasty',
    });
    const raised = await ask(door().client, { code: `print("before")\n1 / 0` });
    expect(raised.result).toMatchObject({
      success: false,
      output: 'before\n',
      error: expect.stringContaining('ZeroDivisionError'),
    });
    expect(raised.texts[1]).toMatch(/^PYTHON_ERROR: .*\nTraceback/);
  });

  test('the same again is not run again, unless it is asked for', async () => {
    const code = `import math\nmath.pi`;
    const first = await ask(door().client, { code, context: { a: 1 } });
    expect(first.result.cached).toBe(null);
    const again = await ask(door().client, { code, context: { a: 1 } });
    expect(again.result.cached?.runId).toBe(first.result.outcome.runId);
    expect(again.result.output).toBe(first.result.output);
    expect(again.texts[1]).toMatch(/^Not run again: .* Pass fresh: true to run it again\.$/);
    expect((await ask(door().client, { code, context: { a: 2 } })).result.cached).toBe(null);
    expect((await ask(door().client, { code, context: { a: 1 }, fresh: true })).result.cached).toBe(null);
  });

  test.each([
    ['an unknown persona', { persona: 'nobody' }, 'unknown persona "nobody"; known: diego, alvaro, hasty'],
    ['a missing persona', { persona: undefined }, 'persona: is missing; known: diego, alvaro, hasty'],
    [
      'an unknown capability',
      { capability: 'gardening' },
      'unknown capability "gardening"; known: strategic_data_analysis, roi_calculations, stakeholder_analytics, performance_metrics, executive_reporting',
    ],
    ['a context that is no object', { context: [1] }, 'context: must be an object'],
    ['a context that is a text', { context: 'x' }, 'context: must be an object'],
    ['code that is a number', { code: 5 }, 'code: must be a text'],
    ['an argument of another tool', { argv: ['x'] }, 'argv'],
  ])('%s is refused with what is known', async (_what, wrong, words) => {
    const { texts, isError } = await ask(door().client, { code: '1', ...wrong });
    expect(isError).toBe(true);
    expect(texts[0]).toMatch(/^INVALID_INPUT: /);
    expect(texts[0]).toContain(words);
    expect(texts[0]).not.toMatch(/Invalid|expected|received/);
  });

  test('a persona that may not be used is denied', async () => {
    const { result, texts } = await ask(door().client, { code: '1', persona: 'rachel' });
    expect(texts[0]).toMatch(/^DENIED: .*rachel/);
    expect(result).toMatchObject({ success: false, persona_context: 'rachel', violations: [] });
  });

  test('structured content fits the advertised schema', async () => {
    const { tools } = await door().client.listTools();
    const { outputSchema = {} } = tools.find(({ name }) => name === 'execute_strategic_code')!;
    const valid = new AjvJsonSchemaValidator().getValidator(outputSchema as JsonSchemaType);
    for (const code of ['1', 'import os', '1 / 0', 'print(']) {
      expect(valid((await ask(door().client, { code })).result)).toMatchObject({ valid: true });
      const short = await ask(door().client, { code, replyDetail: 'short' });
      expect(valid(short.result)).toMatchObject({ valid: true });
    }
  });

  test('the short form has the six fields that clients know, and what else says something', async () => {
    const { result } = await ask(door().client, { code: 'print(1)\n2', fresh: true, replyDetail: 'short' });
    expect(result).toEqual({
      success: true,
      output: '1\n2',
      error: null,
      execution_time: expect.any(Number),
      memory_usage: expect.any(Number),
      persona_context: 'diego',
      capability: 'roi_calculations',
      disclosure: expect.stringMatching(/^🔧 Accessing MCP Server/),
    });
    const refused = await ask(door().client, { code: 'import os', replyDetail: 'short' });
    expect(refused.result).toMatchObject({ success: false, violations: [{ line: 1, what: 'os' }] });
    expect(refused.result).not.toHaveProperty('outcome');
  });
});

test.each(TWO_DOORS)(
  'TOOLSETS=strategic serves only what is strategic, $era client over $transport',
  async ({ era, connect }) => {
    const connection = await connect(era, { ...SETTINGS, TOOLSETS: 'strategic', WRAP_TOOLS: 'true' });
    try {
      const { client } = connection;
      expect(client.getServerVersion()).toMatchObject({ name: 'strategic-python' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        'execute_strategic_code',
        'list_profiles',
        'read_output',
      ]);
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(['strategic-analysis']);
      const said = [client.getInstructions(), JSON.stringify(tools)].join('\n');
      for (const name of ['execute_python', 'install_packages', 'create_venv', 'health_check', 'wrap_script'])
        expect(said).not.toContain(name);
      expect((await ask(client, { code: '6 * 7' })).result).toMatchObject({ success: true, output: '42' });
      const { data } = await call(client, 'list_profiles');
      expect((data as { profiles: { name: string }[] }).profiles.map(({ name }) => name)).not.toContain(
        'default',
      );
    } finally {
      await connection.close();
    }
  },
);
