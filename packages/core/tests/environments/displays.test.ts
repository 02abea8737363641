import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imageSize } from '../../src/base/image-size.js';
import type { Display, Outcome } from '../../src/contract/outcome.js';
import { expectOk, publicInterpreter, sharedPungi, temporaryFolder } from '../engine/pungi.js';
import { type DisplaySnippet, SNIPPETS } from './display-snippets.js';

const ENVIRONMENTS = {
  plots: ['matplotlib', 'pandas', 'jinja2', 'seaborn', 'pillow', 'plotly', 'sympy', 'altair', 'polars'],
  ipython: [
    'ipython',
    'matplotlib',
    'pandas',
    'jinja2',
    'seaborn',
    'pillow',
    'plotly',
    'sympy',
    'altair',
    'polars',
  ],
};
/** With IPython, the snippets that it is about. */
const snippetsFor = (name: string) =>
  SNIPPETS.filter(({ code }) => name !== 'ipython' || /IPython|display\(|plotly/.test(code));
const DOWNLOAD_MS = 600_000;
const RUN_MS = 120_000;
const LIMITS = { timeoutMs: 100_000, memoryMb: 1024 };
const python = await publicInterpreter();

const KINDS = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/svg+xml': 'svg',
  'application/vnd.plotly.v1+json': 'plotly',
  'text/html': 'html',
  'text/latex': 'latex',
  'text/markdown': 'markdown',
  'application/json': 'json',
};
const kindOf = ({ data }: Display) =>
  Object.entries(KINDS).find(([type]) => type in data)?.[1] ?? Object.keys(data).join();

function sidesOf({ data }: Display): number[] {
  return ['image/png', 'image/jpeg'].flatMap((type) => {
    const base64 = data[type];
    const size = typeof base64 === 'string' ? imageSize(type, Buffer.from(base64, 'base64')) : undefined;
    return size ? [size.width, size.height] : [];
  });
}

async function check(
  { shows, prints, chart, elements, widest = 1500, leastWidth = 0, stderr, leaves, notes }: DisplaySnippet,
  outcome: Outcome,
  read: (path: string) => Promise<Buffer>,
): Promise<void> {
  expectOk(outcome);
  const { displays = [] } = outcome;
  expect(displays.map(kindOf)).toEqual(shows);
  if (typeof prints === 'string') expect(outcome.stdout.text).toBe(prints);
  else if (prints) expect(outcome.stdout.text).toMatch(prints);
  if (stderr) expect(outcome.stderr.text).toMatch(stderr);
  const data = displays[0]?.data['application/vnd.pungi.chart+json'] as
    | { type: string; elements: unknown[] }
    | undefined;
  if (chart !== undefined) expect(data?.type ?? null).toBe(chart);
  if (elements !== undefined) expect(data?.elements).toMatchObject(elements);
  // The tight box of a figure may be a little larger than the figure.
  expect(Math.max(0, ...displays.flatMap(sidesOf))).toBeLessThanOrEqual(widest * 1.05);
  expect(displays.flatMap(sidesOf)[0] ?? 0).toBeGreaterThanOrEqual(leastWidth);
  if (notes) expect(outcome.notes?.join('\n')).toMatch(notes);
  if (leaves) expect(outcome.artifacts?.map(({ path }) => path)).toEqual(leaves.map(([path]) => path));
  for (const [path, { bytes = 1, width }] of leaves ?? []) {
    const content = await read(path);
    expect(content.length).toBeGreaterThanOrEqual(bytes);
    const { mimeType } = outcome.artifacts!.find((artifact) => artifact.path === path)!;
    if (width !== undefined) expect(imageSize(mimeType, content)!.width).toBeGreaterThanOrEqual(width);
  }
}

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('notebook code', () => {
  const base = temporaryFolder();
  chmodSync(base, 0o755);
  // Tens of thousands of files, which take longer than other folders.
  afterAll(() => rm(base, { recursive: true, force: true }), DOWNLOAD_MS);

  describe.each([
    ['namespace', 'plots'],
    ['landlock', 'plots'],
    ['namespace', 'ipython'],
  ] as const)('in the %s tier, with %s', (tier, name) => {
    const pungi = sharedPungi({
      PUNGI_TIER: tier,
      VENVS_BASE_PATH: base,
      ARTIFACT_DIR: `${base}-artifacts`,
      ...(python === '' ? {} : { PUNGI_PYTHON: python }),
    });
    const venvName = `${name}-${tier}`;
    beforeAll(async () => {
      await pungi.environments.create({ venvName, packages: ENVIRONMENTS[name] });
    }, DOWNLOAD_MS);

    test.each(snippetsFor(name).map((snippet) => [snippet.name, snippet] as const))(
      '%s',
      { timeout: RUN_MS },
      async (_, snippet) => {
        const outcome = await pungi.run({ code: snippet.code, venvName, limits: LIMITS });
        await check(
          snippet,
          outcome,
          async (path) => (await pungi.readArtifact({ run: outcome.runId, path })).content,
        );
      },
    );
  });
});
