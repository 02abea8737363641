import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../../tests/support/outcomes.js';
import type { Display, Outcome } from '../../core/src/contract/outcome.js';
import { withPictures } from '../src/displays.js';
import { replyOutcome } from '../src/reply.js';

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const written = (text: string) => ({ text, bytes: text.length, truncated: false });
const picture = (stdout: number, name = 'AAAA'): Display => ({
  data: { 'image/png': name, 'text/plain': '<Figure>', 'application/vnd.pungi.chart+json': { type: 'line' } },
  at: { stdout, stderr: 0 },
});
const html: Display = { data: { 'text/html': '<script>'.repeat(1000) }, at: { stdout: 0, stderr: 0 } };

const REPLY = {
  style: 'full',
  detail: 'full',
  budget: { chars: 20_000, imageBytes: 1024 * 1024 },
} as const;

/** The blocks of the reply; a picture by its data. */
const blocksOf = (outcome: Partial<Outcome>) =>
  replyOutcome({ ...outcomeOf(), ...outcome }, REPLY).content.map((block) =>
    block.type === 'image' ? { picture: block.data } : (block as { text: string }).text,
  );

describe('the pictures of a run', () => {
  test('come at their place in the output', () => {
    const displays = [picture(4, 'one'), html, picture(8, 'two'), picture(8, 'three')];
    const value = { type: 'int', repr: '42' };
    expect(blocksOf({ stdout: written('abc\ndef\nghi\n'), displays, value })).toEqual([
      'abc\n',
      { picture: 'one' },
      'def\n',
      { picture: 'two' },
      { picture: 'three' },
      'ghi\n',
      '42',
    ]);
  });

  test('are a reply without any text', () => {
    expect(blocksOf({ displays: [picture(0, 'one')] })).toEqual([{ picture: 'one' }]);
  });

  test('come before the names of files and the handle of a session', () => {
    const artifacts = [{ path: 'figure-1.png', size: 1, sha256: '', mimeType: 'image/png' }];
    const blocks = blocksOf({ displays: [picture(0, 'one')], artifacts });
    expect(blocks.slice(0, 2)).toEqual([{ picture: 'one' }, expect.stringMatching(/^Files, for read_file/)]);
  });

  test('travel once: structured content has their size and the small parts of displays', () => {
    const { structuredContent } = replyOutcome({ ...outcomeOf(), displays: [picture(0, PNG), html] }, REPLY);
    const { displays } = structuredContent as Outcome;
    expect(displays?.map(({ data }) => data)).toEqual([
      {
        'image/png': '(1 × 1 pixels)',
        'text/plain': '<Figure>',
        'application/vnd.pungi.chart+json': { type: 'line' },
      },
      {},
    ]);
  });

  test('are mentioned in the short form, which some clients pass on alone', () => {
    const outcome = { ...outcomeOf(), displays: [picture(0), html] };
    expect(replyOutcome(outcome, { ...REPLY, detail: 'short' }).structuredContent).toEqual({
      displays: [
        {
          'image/png': '(4 characters)',
          'application/vnd.pungi.chart+json': { type: 'line' },
        },
      ],
    });
  });

  test('and data of charts are what short structured content has of displays: text is in the output', () => {
    const frame: Display = {
      data: { 'text/html': '<table>', 'text/csv': 'a' },
      at: { stdout: 0, stderr: 0 },
    };
    const displays = [picture(0, PNG), frame];
    const { structuredContent } = replyOutcome({ ...outcomeOf(), displays }, { ...REPLY, detail: 'short' });
    expect(structuredContent).toEqual({
      displays: [{ 'image/png': '(1 × 1 pixels)', 'application/vnd.pungi.chart+json': { type: 'line' } }],
    });
  });

  test('beyond the room for them are left out, with a sentence', () => {
    const large = 'A'.repeat(600 * 1024);
    const blocks = blocksOf({ displays: [picture(0, large), picture(0, large), picture(0, 'small')] });
    expect(blocks).toEqual([
      { picture: large },
      { picture: 'small' },
      expect.stringMatching(/^1 picture was left out: /),
    ]);
    const many = blocksOf({ displays: Array.from({ length: 50 }, () => picture(0)) });
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toMatch(/^30 pictures were left out: /);
  });

  test('stay in order where the output was cut in the middle', () => {
    const whole = `${'a'.repeat(50)}${'b'.repeat(900)}${'c'.repeat(50)}`;
    const cut = `${'a'.repeat(50)}\n[…]\n${'c'.repeat(50)}`;
    const displays = [picture(10, 'one'), picture(500, 'two'), picture(990, 'three')];
    const outcome = { ...outcomeOf(), stdout: written(whole), displays };
    const blocks = withPictures([{ type: 'text', text: cut }], outcome, cut, REPLY.budget.imageBytes);
    expect(blocks.map((block) => (block.type === 'text' ? block.text.length : block.type))).toEqual([
      10,
      'image',
      45,
      'image',
      40,
      'image',
      10,
    ]);
  });

  test('as SVG are mentioned, and neither SVG nor HTML is sent', () => {
    const svg: Display = { data: { 'image/svg+xml': '<svg onload="x"/>' }, at: { stdout: 0, stderr: 0 } };
    expect(blocksOf({ stdout: written('text\n'), displays: [svg, html] })).toEqual([
      'An SVG picture of 17 characters was shown; replies have only PNG, JPEG, WebP and GIF.\n',
      'text\n',
    ]);
  });
});
