import { cpSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { verifyTrail } from '../../src/audit/verify.js';
import { aDenial, aRun } from './fixtures/records.js';
import { anyTamper, type Shape } from './tampers.js';
import { TrailWorld } from './trail-world.js';

/** A closed trail of 41 entries with checkpoints among them. */
async function fill(world: TrailWorld): Promise<void> {
  for (let part = 0; part < 4; part += 1) {
    const trail = await world.open();
    for (let index = 0; index < 9; index += 1)
      await trail.record(aRun({ runId: `run-${part}-${index}`, code: `print(${index})` }));
    await trail.record(aDenial());
    await trail.close();
  }
}

async function shapeOf(world: TrailWorld): Promise<Shape> {
  let shape: Shape | undefined;
  await world.tamper((database) => {
    const ends = database.prepare('SELECT min(seq) AS first, max(seq) AS last FROM entries').get();
    const marks = database.prepare('SELECT seq, role FROM checkpoints ORDER BY seq').all() as {
      seq: number;
      role: string;
    }[];
    const of = (role: string) => marks.filter((mark) => mark.role === role).map(({ seq }) => seq);
    shape = { ...(ends as { first: number; last: number }), checkpoints: of('regular'), cut: of('cut')[0] };
  });
  return shape!;
}

describe.each(['whole', 'pruned'])('a %s trail', (kind) => {
  const original = new TrailWorld();
  let shape: Shape;
  beforeAll(async () => {
    await fill(original);
    if (kind === 'pruned') {
      const trail = await original.open();
      await trail.prune(new Date());
      await trail.close();
      await fill(original);
    }
    shape = await shapeOf(original);
  });
  afterAll(() => original.end());

  test('verifies, and has checkpoints among its entries', async () => {
    expect(await verifyTrail(original.folder)).toMatchObject({ ok: true, problems: [] });
    expect(shape.checkpoints.length).toBeGreaterThan(3);
    expect(shape.cut === undefined).toBe(kind === 'whole');
  });

  test('shows what was tampered with, and names it', async () => {
    await fc.assert(
      fc.asyncProperty(anyTamper(shape), async (tamper) => {
        const copy = new TrailWorld();
        try {
          cpSync(original.folder, copy.folder, { recursive: true });
          await copy.tamper(tamper.apply);
          const { ok, problems } = await verifyTrail(copy.folder);
          const named = problems.map(({ seq }) => seq);
          expect(ok, tamper.does).toBe(false);
          if (tamper.exactly) expect(named, tamper.does).toEqual([...tamper.names].sort((a, b) => a - b));
          else expect(named, tamper.does).toEqual(expect.arrayContaining(tamper.names));
        } finally {
          await copy.end();
        }
      }),
      { numRuns: RUNS_ALL ? 300 : 60 },
    );
  });
});
