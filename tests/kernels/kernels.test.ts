import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AttackTier } from '../../packages/core/tests/security/attack.js';
import { judge } from '../../packages/core/tests/security/judge.js';
import { type BootReport, boot } from './boot.js';
import { GUESTS } from './guests.js';
import { buildImage } from './image.js';
import { SHORT_ROWS, SHORT_TABLE } from './short-table.js';
import { ensureTools } from './tools.js';

const TIERS: AttackTier[] = ['namespace', 'landlock'];
const BOOT_TIMEOUT_MS = 40 * 60_000;
const only = process.env['PUNGI_TEST_GUEST'];
const canary = `PUNGI-CANARY-${randomBytes(12).toString('hex')}`;

beforeAll(() => ensureTools());

describe.each(GUESTS.filter(({ name }) => only === undefined || name.includes(only)))('$name', (guest) => {
  let report: BootReport;
  const rowsOf = (tier: AttackTier) =>
    report.said.flatMap((said) => ('result' in said && said.tier === tier ? [said.result] : []));

  beforeAll(async () => {
    report = await boot(guest, await buildImage(guest, { canary, rows: SHORT_ROWS }));
  }, BOOT_TIMEOUT_MS);

  test('the tests inside came to their end', () => {
    expect(
      report.said.some((said) => 'isDone' in said),
      report.console,
    ).toBe(true);
  });

  test.each(TIERS)('the %s tier is there, or refused with the reason', (tier) => {
    const refused = report.said.flatMap((said) =>
      'refused' in said && said.tier === tier ? [said.refused] : [],
    );
    if (guest.tiers.includes(tier)) expect(refused).toEqual([]);
    else expect(refused.join('\n')).toMatch(guest.refused?.[tier] ?? /./);
  });

  test.each(guest.tiers)(
    'every attack of the short table is held off in the %s tier, and every verdict is right',
    (tier) => {
      const results = rowsOf(tier as AttackTier);
      expect(results.map(({ name }) => name)).toEqual(SHORT_TABLE.map(({ name }) => name));
      const wrong = results.map((result, index) => [
        result.name,
        judge(SHORT_TABLE[index]!, tier as AttackTier, canary, result),
      ]);
      expect(wrong.filter(([, problems]) => problems!.length > 0)).toEqual([]);
    },
  );

  test.each(guest.tiers)('runs in the %s tier name what stands around them', (tier) => {
    const ok = rowsOf(tier as AttackTier).find(({ name }) => name === 'verdict ok');
    const features = ok?.outcome?.isolation.features.join(' ') ?? '';
    for (const feature of guest.features ?? []) expect(features).toContain(feature);
  });

  test('no process is left', () => {
    expect(report.said.flatMap((said) => ('left' in said ? said.left : []))).toEqual([]);
  });

  test('the doctor names the blocker and what removes it', () => {
    const text = report.said.flatMap((said) => ('doctor' in said ? [said.doctor] : [])).join('\n');
    expect(text).not.toBe('');
    for (const expected of guest.doctor ?? []) expect(text).toMatch(expected);
  });
});
