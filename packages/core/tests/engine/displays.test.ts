import { describe, expect, test } from 'vitest';
import { FIND_CHANNEL } from '../../../../tests/fixtures/hostile/find-channel.mjs';
import { py } from '../../../../tests/support/python.js';
import type { Outcome } from '../../src/contract/outcome.js';
import { expectOk, sharedPungi } from './pungi.js';

const pungi = sharedPungi();

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const PICTURE = py`
  import base64
  class Picture:
      def _repr_png_(self): return base64.b64decode("${PNG}")
`;

async function displaysOf(code: string): Promise<NonNullable<Outcome['displays']>> {
  const outcome = await pungi.run({ code: `${PICTURE}\n${code}` });
  expectOk(outcome);
  return outcome.displays ?? [];
}

describe('displays', () => {
  test('come in order, each with its place in the output', async () => {
    const outcome = await pungi.run({
      code: `${PICTURE}\nprint("äöü")\ndisplay(Picture())\nprint("b")\ndisplay({"text/html": "<i>"}, raw=True)`,
    });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('äöü\nb\n');
    expect(outcome.displays).toEqual([
      { data: { 'image/png': PNG, 'text/plain': expect.any(String) }, at: { stdout: 4, stderr: 0 } },
      { data: { 'text/html': '<i>' }, at: { stdout: 6, stderr: 0 } },
    ]);
  });

  test('are absent where nothing was shown', async () => {
    expect(await pungi.run({ code: 'print(1)\n[1]' })).not.toHaveProperty('displays');
  });

  test('of the last value come beside it', async () => {
    const outcome = await pungi.run({ code: `${PICTURE}\nPicture()` });
    expect(outcome.value?.type).toBe('Picture');
    expect(outcome.displays).toMatchObject([{ data: { 'image/png': PNG }, isValue: true }]);
  });

  test('an update replaces the display of its id, and clearing those before', async () => {
    const code = py`
      handle = display(Picture(), display_id="a")
      display({"text/html": "b"}, raw=True)
      handle.update(5)
      from IPython.display import update_display
      update_display({"text/html": "new"}, display_id="a", raw=True)
    `;
    expect((await displaysOf(code)).map(({ data }) => data)).toEqual([
      { 'text/html': 'new' },
      { 'text/html': 'b' },
    ]);
    const cleared = 'for i in range(300):\n    display({"text/html": str(i)}, raw=True, clear=True)';
    expect((await displaysOf(cleared)).map(({ data }) => data)).toEqual([{ 'text/html': '299' }]);
  });

  test('those before a failure are kept', async () => {
    const outcome = await pungi.run({ code: `${PICTURE}\ndisplay(Picture())\n1 / 0` });
    expect(outcome.verdict.kind).toBe('python-error');
    expect(outcome.displays).toHaveLength(1);
  });

  test('more than an outcome has room for are counted in a note', async () => {
    const outcome = await pungi.run({ code: `${PICTURE}\nfor _ in range(250): display(Picture())` });
    expect(outcome.displays).toHaveLength(100);
    expect(outcome.notes).toEqual([expect.stringMatching(/^150 displays were left out: /)]);
  });

  test('a place in output that was cut is at the cut', async () => {
    const code = `${PICTURE}\nprint("x" * 5000)\ndisplay(Picture())\nprint("y" * 5000)\ndisplay(Picture())\nprint("end")`;
    const { stdout, displays } = await pungi.run({ code, limits: { outputBytes: 1000 } });
    const [first, second] = displays!.map(({ at }) => at.stdout);
    expect(stdout.text.slice(0, first)).toMatch(/^x+\n… \d+ bytes left out …\n$/);
    expect(stdout.text.slice(second)).toBe('end\n');
  });
});

/** Sends frames as the worker would, without its help. */
const FORGE = `${FIND_CHANNEL}
import json, struct
def forge(payload):
    payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    os.write(REPORT, struct.pack(">IB", len(payload), ord("d")) + payload)
`;

describe('a forged display', () => {
  test.each<[string, string]>([
    ['HTML as a picture', '{"data": {"image/png": "PHNjcmlwdD4="}}'],
    ['wrong base64', '{"data": {"image/png": "###"}}'],
    ['half a picture', `{"data": {"image/png": "${PNG.slice(0, 60)}"}}`],
    ['a picture that is no text', '{"data": {"image/png": {"a": 1}}}'],
    ['a picture of a type that clients do not know', '{"data": {"image/x-icon": "AAAA"}}'],
    [
      'a media type that is none',
      '{"data": {"../../etc": "x", "a b/c": "x", "": "x", "text/html\\r\\nx": "y"}}',
    ],
    ['no data', '{"data": []}'],
    ['a list', '[1, 2]'],
    ['no JSON', 'b"\\xff{{"'],
    ['an infinite number', 'b\'{"data": {"application/json": 1e999}}\''],
    ['JSON that is too deep', 'b\'{"data": {"application/json": \' + b"[" * 200 + b"]" * 200 + b"}}"'],
    ['JSON with too many parts', 'b\'{"data": {"application/json": [\' + b"0," * 300000 + b"0]}}"'],
    ['an update of nothing', '{"data": {"text/html": "x"}, "update": True, "id": "none"}'],
  ])('with %s is dropped', async (_, payload) => {
    const outcome = await pungi.run({ code: `${FORGE}forge(${payload})` });
    expectOk(outcome);
    expect(outcome.displays ?? []).toEqual([]);
  });

  test('with a picture of 100,000 pixels is dropped', async () => {
    const size = 'data[:16] + struct.pack(">II", 100000, 100000) + data[24:]';
    const code = `${FORGE}import base64\ndata = base64.b64decode("${PNG}")\nforge({"data": {"image/png": base64.b64encode(${size}).decode()}})`;
    const outcome = await pungi.run({ code });
    expectOk(outcome);
    expect(outcome.displays ?? []).toEqual([]);
  });

  test('that is valid is a display like any other', async () => {
    const code = `${FORGE}forge({"data": {"image/png": "${PNG}", "text/html": "<script>"}, "at": {"stdout": -1}, "x": 1})`;
    const data = { 'image/png': PNG, 'text/html': '<script>' };
    expect((await pungi.run({ code })).displays).toEqual([{ data, at: { stdout: 0, stderr: 0 } }]);
  });
});
