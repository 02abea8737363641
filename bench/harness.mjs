// Measures the test harness: validation scripts, single and many, and a judged call compared with the bare client's.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { runSuite } from '../dist/harness/src/run/run-suite.js';
import { loadSpecification } from '../dist/harness/src/spec/load.js';
import { ScriptEngine } from '../dist/harness/src/validate/script-engine.js';
import { startPungi } from './contenders/library.mjs';
import { serverSettings } from './contenders/server-settings.mjs';
import { makeFolder } from './folder.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';

const SERVER = fileURLToPath(new URL('../tests/fixtures/servers/good.mjs', import.meta.url));
const SCRIPT = `
total = get("response.structuredContent.total")
expect(total == sum(get("request.params.arguments.amounts")), "the total is wrong", field="total")
log("info", f"checked {total}")
`;
const CONTEXT = {
  request: { method: 'tools/call', params: { name: 'total', arguments: { amounts: [19, 20, 21] } } },
  response: { content: [{ type: 'text', text: '60' }], structuredContent: { total: 60 } },
  metadata: { test_name: 'bench', phase: 'after' },
};

const FULL = { scripts: 1000, single: 100, rounds: 7, calls: 300 };
const QUICK = { scripts: 200, single: 30, rounds: 3, calls: 100 };

/** Returns medians in ms, and the scripts per second. */
export async function measureHarness({ python, tier }, { isQuick, gapMs, settleMs }, say = () => {}) {
  const { scripts, single, rounds, calls } = isQuick ? QUICK : FULL;
  say('validation scripts …');
  const pungi = await startPungi(serverSettings({ python, tier, preload: [] }));
  let judged;
  try {
    judged = await measureScripts(pungi, { scripts, single, gapMs, settleMs });
  } finally {
    await pungi.close();
  }
  say('calls that are judged …');
  return { ...judged, ...(await measureCalls({ rounds, calls, settleMs })) };
}

async function measureScripts(pungi, { scripts, single, gapMs, settleMs }) {
  const engine = new ScriptEngine({}, pungi);
  const script = await engine.precompileScript(SCRIPT);
  const passed = async (running) => {
    const { success, error, failures } = await running;
    if (!success) throw new Error(`the script failed: ${JSON.stringify(error ?? failures)}`);
  };
  const cached = () => passed(engine.executePrecompiled(script, CONTEXT));
  const fresh = () => passed(engine.executeScript(SCRIPT, CONTEXT));
  const one = async (run) => {
    const samples = [];
    for (let n = 0; n < single; n += 1) {
      const started = performance.now();
      await run();
      samples.push(performance.now() - started);
      await pause(gapMs);
    }
    await pause(settleMs);
    return median(samples);
  };
  await Promise.all(Array.from({ length: 20 }, cached));
  const [cachedMs, scriptMs] = [await one(cached), await one(fresh)];
  const started = performance.now();
  await Promise.all(Array.from({ length: scripts }, cached));
  return { cachedMs, scriptMs, perSecond: (scripts * 1000) / (performance.now() - started), scripts };
}

/** Each uses its own server, which has to warm up for either. */
async function measureCalls({ rounds, calls, settleMs }) {
  const file = join(makeFolder('harness'), 'calls.json');
  writeFileSync(file, JSON.stringify(specificationOf(calls)));
  const samples = { harnessMs: [], clientMs: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [id, measure] of [
      ['harnessMs', () => byHarness(file)],
      ['clientMs', () => byClient(calls)],
    ]) {
      const took = await measure();
      // The first round warms Node's compiler.
      if (round > 0) samples[id].push(took / calls);
      await pause(settleMs);
    }
  }
  return { harnessMs: median(samples.harnessMs), clientMs: median(samples.clientMs) };
}

/** Writes one test for each call, as people do. */
const specificationOf = (calls) => ({
  name: 'bench',
  server: { command: process.execPath, args: [SERVER] },
  test_config: { max_concurrency: 1 },
  tools: [
    {
      name: 'add',
      tests: [
        {
          name: 'adds',
          matrix: { a: Array.from({ length: calls }, (_, index) => index) },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what references look like
          input: { a: '${a}', b: 1 },
          expected: { fields: [{ path: '$.sum', type: 'integer', min: 1 }] },
        },
      ],
    },
  ],
});

/**
 * Measures from the first test to the last: without the start of the server, and with everything between two calls.
 */
async function byHarness(file) {
  const { loaded, faults } = loadSpecification(file, { environment: process.env });
  if (faults) throw new Error(JSON.stringify(faults[0]));
  let [first, last] = [undefined, 0];
  const { results, problem } = await runSuite(loaded, {
    environment: process.env,
    events: {
      // The first test waits for the server.
      testStarted() {},
      testEnded() {
        last = performance.now();
        first ??= last;
      },
    },
  });
  const failed = results.find(({ status }) => status !== 'passed');
  if (problem || failed) throw new Error(problem ?? JSON.stringify(failed));
  return ((last - first) * results.length) / (results.length - 1);
}

async function byClient(calls) {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER] }));
  try {
    await client.listTools();
    await client.callTool({ name: 'add', arguments: { a: 0, b: 1 } });
    const started = performance.now();
    for (let a = 0; a < calls; a += 1) {
      const { structuredContent } = await client.callTool({ name: 'add', arguments: { a, b: 1 } });
      if (structuredContent?.sum !== a + 1) throw new Error(`got ${JSON.stringify(structuredContent)}`);
    }
    return performance.now() - started;
  } finally {
    await client.close();
  }
}

export const HARNESS_TARGETS = [
  {
    about: 'the same validation script again and again: rate',
    atLeast: 300,
    unit: ' /s',
    measure: ({ harness }) => harness?.perSecond,
  },
  {
    about: 'a simple validation script, not compiled before',
    atMost: 10,
    unit: ' ms',
    measure: ({ harness }) => harness?.scriptMs,
  },
  {
    about: 'a call that the harness makes and judges: what it adds to the bare client',
    atMost: 1,
    unit: ' ms',
    measure: ({ harness }) => harness && harness.harnessMs - harness.clientMs,
  },
];

export function describeHarness({ harness = {} }) {
  return table(
    ['', 'figure'],
    [
      ['a validation script, compiled before, median', figure(harness.cachedMs, ' ms')],
      ['a validation script, not compiled before, median', figure(harness.scriptMs, ' ms')],
      [`${harness.scripts ?? ''} of them, compiled before: rate`.trim(), figure(harness.perSecond, '/s')],
      ['a call that the harness makes and judges', figure(harness.harnessMs, ' ms')],
      ['the same call by the bare client', figure(harness.clientMs, ' ms')],
    ],
  );
}
