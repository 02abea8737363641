import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { textsOf } from './calls.js';
import { behindEveryDoor } from './doors.js';

const folder = join(temporaryFolder(), 'tools');
mkdirSync(folder);
writeFileSync(
  join(folder, 'sales.py'),
  `"""Figures of sales."""
import sys
from dataclasses import dataclass
from typing import Literal

import rates


@dataclass
class Total:
    net: float
    gross: float


def total(amounts: list[float], country: Literal["de", "fr"] = "de") -> Total:
    """Add amounts up.

    Args:
        amounts: Net amounts.
        country: Whose tax holds.
    """
    print("adding", len(amounts), "amounts")
    print("to stderr", file=sys.stderr)
    net = sum(amounts)
    return Total(net, net * (1 + rates.of(country)))


async def count(text: str, times: int = 1) -> int:
    """Count letters."""
    return len(text) * times


def fail(name: str) -> str:
    """Fail."""
    return {}[name]


def nothing():
    """Do nothing."""


def wrong() -> int:
    """Promise a number."""
    return "no number"


def picture() -> bytes:
    """Draw."""
    import base64
    return base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


def slow():
    """Say lines."""
    import time
    for number in range(3):
        print("line", number)
    # The clients of the SDK forget who listens when they read the result together with the notifications before it.
    time.sleep(0.5)
    return "done"


def wait_long():
    """Wait."""
    import time
    print("waiting")
    time.sleep(60)


def _private():
    pass
`,
);
writeFileSync(join(folder, '_helpers.py'), 'def helper(): pass\n');
writeFileSync(
  join(folder, 'rates.py'),
  'RATES = {"de": 0.25, "fr": 0.2}\n\ndef of(country: str) -> float:\n    return RATES[country]\n',
);
writeFileSync(
  join(folder, 'convert.py'),
  `"""Convert numbers."""
import argparse, json, sys

parser = argparse.ArgumentParser(description="Convert numbers.")
parser.add_argument("numbers", nargs="+", type=float, help="what to convert")
parser.add_argument("--factor", type=float, default=2.0, help="by how much")
parser.add_argument("--fail", action="store_true")

if __name__ == "__main__":
    args = parser.parse_args()
    if args.fail:
        sys.exit("told to fail")
    print(json.dumps([number * args.factor for number in args.numbers]))
`,
);

behindEveryDoor({ TOOLS_DIR: folder }, (door) => {
  test('tools are listed with their schemas and can be called', async () => {
    const { client } = door();
    expect(client.getServerCapabilities()?.tools?.listChanged).toBe(true);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['execute_python', 'list_wrapped', 'total', 'count', 'convert', 'of']),
    );
    expect(names).not.toContain('wrap_script');
    expect(names).not.toContain('helper');
    expect(names).not.toContain('_private');
    expect(tools.find(({ name }) => name === 'total')).toMatchObject({
      description: expect.stringContaining('Add amounts up.'),
      inputSchema: {
        type: 'object',
        required: ['amounts'],
        properties: { amounts: { type: 'array', items: { type: 'number' }, description: 'Net amounts.' } },
      },
      outputSchema: { type: 'object' },
    });
  });

  test('a value is apart from what the script prints', async () => {
    const result = await door().client.callTool({ name: 'total', arguments: { amounts: [1, 3] } });
    expect(result.isError).not.toBe(true);
    expect(result.structuredContent).toEqual({ net: 4, gross: 5 });
    expect(textsOf(result)).toEqual([
      '{"net":4.0,"gross":5.0}'.replaceAll('.0', ''),
      'stdout:\nadding 2 amounts\n',
      'stderr:\nto stderr\n',
    ]);
  });

  test('a value that is no object is below result', async () => {
    const result = await door().client.callTool({ name: 'count', arguments: { text: 'abc', times: '2' } });
    expect(result.structuredContent).toEqual({ result: 6 });
    expect(textsOf(result)).toEqual(['6']);
  });

  test('a function that gives back nothing', async () => {
    const result = await door().client.callTool({ name: 'nothing' });
    expect(textsOf(result)).toEqual(['Returned None.']);
  });

  test('a picture', async () => {
    const result = await door().client.callTool({ name: 'picture' });
    expect(result.content).toContainEqual({
      type: 'image',
      mimeType: 'image/png',
      data: expect.stringMatching(/^iVBOR/),
    });
  });

  test('a failure comes with the whole traceback of the script', async () => {
    const result = await door().client.callTool({ name: 'fail', arguments: { name: 'x' } });
    expect(result.isError).toBe(true);
    expect(textsOf(result).join('\n')).toMatch(
      /^PYTHON_ERROR: KeyError: 'x' [\s\S]*sales\.py", line \d+, in fail/,
    );
  });

  test('bad arguments get a sentence each', async () => {
    const result = await door().client.callTool({
      name: 'total',
      arguments: { amounts: ['x'], country: 'it', more: 1 },
    });
    expect(result.isError).toBe(true);
    const said = textsOf(result).join('\n');
    expect(said).toMatch(/INVALID_INPUT/);
    expect(said).toMatch(/- amounts\.0: expected a number, got the text "x"/);
    expect(said).toMatch(/- country: expected one of "de", "fr"/);
    expect(said).toMatch(/- more: is not known/);
  });

  test('a value that breaks its promise is an error that says so', async () => {
    const result = await door().client.callTool({ name: 'wrong' });
    expect(result.isError).toBe(true);
    expect(textsOf(result)[0]).toMatch(
      /does not match its outputSchema[\s\S]*result: expected a whole number, got the text "no number"/,
    );
  });

  test('a command line: exit status, streams, JSON', async () => {
    const { client } = door();
    const result = await client.callTool({ name: 'convert', arguments: { numbers: [1, -2], factor: 3 } });
    expect(result.structuredContent).toEqual({
      exitCode: 0,
      stdout: '[3.0, -6.0]\n',
      stderr: '',
      json: [3, -6],
    });
    const failed = await client.callTool({ name: 'convert', arguments: { numbers: [1], fail: 'true' } });
    expect(failed.isError).toBe(true);
    expect(failed.structuredContent).toMatchObject({ exitCode: 1, stderr: 'told to fail\n' });
    const bad = await client.callTool({ name: 'convert', arguments: { numbers: 'x', faktor: 1 } });
    expect(textsOf(bad).join('\n')).toMatch(
      /INVALID_INPUT[\s\S]*- numbers: [\s\S]*- faktor: is not known; do you mean "factor"\?/,
    );
  });

  test('lines are progress', async () => {
    const lines: string[] = [];
    await door().client.callTool(
      { name: 'slow' },
      { onprogress: ({ message }) => lines.push(message ?? '') },
    );
    expect(lines.join('\n')).toBe('line 0\nline 1\nline 2');
  });

  test('a cancelled call ends the run', async () => {
    const { client } = door();
    const controller = new AbortController();
    const call = client.callTool(
      { name: 'wait_long' },
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await expect(call).rejects.toThrow();
    await expect
      .poll(async () => {
        const { structuredContent } = await client.callTool({ name: 'health_check' });
        return (structuredContent as { queue: { active: number } }).queue.active;
      })
      .toBe(0);
  });

  test('list_wrapped tells of the scripts', async () => {
    const { structuredContent } = await door().client.callTool({ name: 'list_wrapped' });
    expect(structuredContent).toMatchObject({
      problem: null,
      scripts: [
        { name: 'convert', file: 'convert.py', tools: ['convert'], problem: null },
        { name: 'rates', tools: ['of'] },
        { name: 'sales', tools: expect.arrayContaining(['total', 'count']) },
      ],
    });
  });

  test('an unknown tool is unknown', async () => {
    await expect(door().client.callTool({ name: '_private' })).rejects.toThrow(/not found/);
  });
});
