import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ensureJudges } from '../../../tests/judges/ensure.js';
import { MAIN } from '../../../tests/support/main.js';
import { sharedPackageIndex } from '../../../tests/support/package-index.js';
import { temporaryFolder } from '../../../tests/support/places.js';
import { stateBelow } from '../../../tests/support/state-below.js';
import { ensureUv } from '../../../tests/support/uv.js';
import { type Ended, pungi } from '../../cli/tests/pungi.js';
import { TestReport } from '../../core/src/contract/test-report.js';
import { STAND_IN_RUFF } from '../../core/tests/environments/stand-in-ruff.js';

const root = resolve(import.meta.dirname, '../../..');
const examples = join(root, 'examples/harness');
const scratch = temporaryFolder();
const SECONDS = 1000;

/** Stands for the real index, with what the specifications of our own server install. */
const index = await sharedPackageIndex([STAND_IN_RUFF, { name: 'six', version: '1.99.0' }]);
const uv = await ensureUv();

/** As in CI: snapshots are compared with, and never written. */
function run(spec: string, args: string[] = [], name = basename(spec, '.yaml')): Promise<Ended> {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  const variables = [`scratch=${folder}`, `main=${MAIN}`].flatMap((one) => ['--var', one]);
  const env = {
    CI: 'true',
    VENVS_BASE_PATH: join(folder, 'environments'),
    PUNGI_UV: uv,
    UV_DEFAULT_INDEX: index.env['UV_DEFAULT_INDEX']!,
  };
  return pungi(['test', 'run', join(examples, spec), '--json', ...variables, ...args], { env });
}

beforeAll(() => ensureJudges(), 300 * SECONDS);

describe('servers that others wrote, and our own', { timeout: 300 * SECONDS }, () => {
  test.each([
    ['everything-stdio.yaml', 'mcp-servers/everything', 49],
    ['everything-http.yaml', 'mcp-servers/everything', 49],
    ['filesystem.yaml', 'secure-filesystem-server', 26],
    ['memory.yaml', 'memory-server', 17],
    ['pungi-stdio.yaml', 'pungi', 82],
    ['pungi-http.yaml', 'pungi', 82],
  ])('%s passes', async (spec, server, total) => {
    const before = stateBelow(examples);
    const { status, stdout, stderr } = await run(spec);
    const report = TestReport.parse(JSON.parse(stdout));
    const [suite] = report.suites;
    const faults = suite!.results.flatMap(({ id, failures, advisories, reason }) =>
      [...failures, ...advisories].map(({ message }) => `${id}: ${message}`).concat(reason ?? []),
    );
    expect({ faults, problem: suite!.problem, stderr }).toEqual({ faults: [], stderr: '' });
    expect(suite!.server?.name).toBe(server);
    expect(report.counts).toEqual({ total, passed: total, failed: 0, skipped: 0 });
    expect(status).toBe(0);
    expect(stateBelow(examples)).toEqual(before);
  });

  test('our own server passes in the older era, too', async () => {
    const { status, stdout } = await run('pungi-stdio.yaml', ['--var', 'era=legacy'], 'pungi-legacy');
    const report = TestReport.parse(JSON.parse(stdout));
    expect(report.suites[0]!.server?.protocol).toBe('2025-11-25');
    expect({ status, failed: report.counts.failed }).toEqual({ status: 0, failed: 0 });
  });

  test('a server that is kept out of a folder fails the setup, and the run says so', async () => {
    const { status, stdout } = await run('filesystem.yaml', ['--var', 'work=/etc/nowhere'], 'kept-out');
    const { suites, counts } = TestReport.parse(JSON.parse(stdout));
    expect(status).toBe(1);
    expect(suites[0]!.problem).toMatch(/Setup step 1 \(create_directory\).*Access denied/);
    expect(counts).toMatchObject({ passed: 0, failed: 0, skipped: counts.total });
  });
});

describe('the published schema, by which editors complete', () => {
  const schema = JSON.parse(readFileSync(join(root, 'docs/spec.schema.json'), 'utf8')) as object;
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const isSpec = (name: string) => name.endsWith('.yaml') && !name.endsWith('profiles.yaml');

  test.each(readdirSync(examples).filter(isSpec))('accepts %s', (name) => {
    validate(parse(readFileSync(join(examples, name), 'utf8')));
    expect(validate.errors ?? []).toEqual([]);
  });
});
