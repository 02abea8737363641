import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { behindEveryDoor } from './doors.js';

const base = temporaryFolder();
const [tools, root] = [join(base, 'tools'), join(base, 'root')];
for (const folder of [tools, root]) mkdirSync(folder);
writeFileSync(join(root, 'sales.csv'), 'from the root\n');
writeFileSync(join(base, 'outside.csv'), 'from outside\n');
writeFileSync(
  join(tools, 'readers.py'),
  `import argparse
import json
from pathlib import Path


def sizes(paths: list[Path]) -> dict[str, int]:
    """Tell sizes."""
    return {path.name: path.stat().st_size for path in paths}


def first_line(path: Path, strict: bool = True) -> str:
    """Read a line."""
    assert isinstance(path, Path) and json.dumps([1]) == "[1]"
    return path.read_text().splitlines()[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count lines.")
    parser.add_argument("file", type=argparse.FileType())
    parser.add_argument("--also", type=Path)
    args = parser.parse_args()
    print(len(args.file.readlines()), args.also and args.also.name)
`,
);

behindEveryDoor({ TOOLS_DIR: tools, SCRIPT_ROOTS: root }, (connection) => {
  const call = (name: string, args: object) => connection().client.callTool({ name, arguments: { ...args } });

  test('are offered as files, and content arrives as one', async () => {
    const { tools } = await connection().client.listTools();
    const schema = JSON.stringify(tools.find(({ name }) => name === 'first_line')!.inputSchema);
    expect(schema).toContain('A file: its content as');
    for (const path of [
      { name: 'a.txt', text: 'one\ntwo\n' },
      { name: 'json.py', base64: Buffer.from('one\n').toString('base64') },
    ])
      expect(await call('first_line', { path })).toMatchObject({ structuredContent: { result: 'one' } });
  });

  test('in lists and command lines as well', async () => {
    const paths = [{ name: 'a.txt', text: 'abc' }, 'sales.csv'];
    expect(await call('sizes', { paths })).toMatchObject({
      structuredContent: { 'a.txt': 3, 'sales.csv': 14 },
    });
    const args = { file: { name: '-x', text: 'a\nb\n' }, also: 'sales.csv' };
    expect(await call('readers', args)).toMatchObject({ structuredContent: { stdout: '2 sales.csv\n' } });
  });

  test('read files below the roots, and none outside of them', async () => {
    for (const path of ['sales.csv', join(root, 'sales.csv')])
      expect(await call('first_line', { path })).toMatchObject({
        structuredContent: { result: 'from the root' },
      });
    for (const path of ['../outside.csv', join(base, 'outside.csv')]) {
      const reply = await call('first_line', { path });
      expect(reply.isError).toBe(true);
      expect(JSON.stringify(reply)).not.toContain('from outside');
    }
  });

  test('refuse what is no file in a sentence', async () => {
    const reply = await call('first_line', { path: { name: '../x', text: '' } });
    expect(JSON.stringify(reply)).toMatch(/path: .*without folders/);
  });
});
