import { expect, test } from 'vitest';
import { MAX_REPLY_BYTES } from '../src/fit.js';
import { execute } from './calls.js';
import { behindTwoDoors } from './doors.js';

const MIB = 1024 * 1024;
const GENEROUS = {
  MAX_OUTPUT_BYTES: String(32 * MIB),
  MAX_OUTPUT_HARD_BYTES: String(64 * MIB),
  MAX_MEMORY_MB: '1024',
};

behindTwoDoors(GENEROUS, (door) => {
  test.each([
    ['plain text', 'print("a" * 12_000_000)'],
    ['text that JSON escapes', 'print("\\x01" * 6_000_000)'],
    ['both streams', 'import sys\nprint("a" * 6_000_000)\nprint("é" * 6_000_000, file=sys.stderr)'],
    ['a traceback', 'raise ValueError("v" * 12_000_000)'],
  ])('a reply with too much of %s stays below the limit of a message', async (_what, code) => {
    const result = await door().client.callTool({ name: 'execute_python', arguments: { code } });
    const bytes = Buffer.byteLength(JSON.stringify(result));
    expect(bytes).toBeLessThan(MAX_REPLY_BYTES + 64 * 1024);
    expect((await execute(door().client, { code: '1 + 1' })).outcome.value?.repr).toBe('2');
  });

  test('what was cut is marked, in the text, in the structured content and in the outcome', async () => {
    const { outcome, texts, structured } = await execute(door().client, {
      code: 'print("<" + "a" * 12_000_000 + ">")',
    });
    expect(outcome.stdout).toMatchObject({ truncated: true, bytes: 12_000_003 });
    expect(outcome.stdout.text).toMatch(/^<a+\n\[… \d+ characters cut …\]\na+>\n$/);
    const marked =
      /^<a+\n\[… \d+ characters left out: read_output \{"run":"[^"]+","offset":\d+\} …\]\na+>\n$/;
    expect(texts[0]).toMatch(marked);
    expect(structured).toEqual({ stdout: expect.stringMatching(marked) });
  });
});
