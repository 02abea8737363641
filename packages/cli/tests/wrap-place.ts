import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { lastingFolder } from '../../../tests/support/places.js';
import { py } from '../../../tests/support/python.js';
import type { ToolsFile } from '../../core/src/contract/wrap.js';
import { type Ended, pungi } from './pungi.js';

const root = lastingFolder();
let count = 0;

export const REPORT = py`
  """Figures of a quarter."""
  import argparse
  import money

  def total(path: str, unit: str = "EUR") -> float:
      """Adds up a column.

      Args:
          path: the CSV file
      """
      return 1.0

  def plot(path: str) -> bytes:
      """Draws."""
      import zebra_of_nobody
      import cv2_of_nobody as cv2

  def draw(*args):
      pass

  def main():
      parser = argparse.ArgumentParser(description="Makes the report.")
      parser.add_argument("month", type=int, help="which month")
      parser.parse_args()

  if __name__ == "__main__":
      main()
`;

/** A folder of its own for each test, and the tools folder in it. */
export function wrapPlace() {
  count += 1;
  const folder = join(root, `${count}`);
  mkdirSync(folder);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('report.py', REPORT);
  write('money.py', 'RATE = 2\n');
  const tools = join(folder, 'tools');
  const wrap = (...args: string[]): Promise<Ended> =>
    pungi(['wrap', ...args], { cwd: folder, env: { TOOLS_DIR: tools } });
  const done = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await wrap(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
  const refused = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await wrap(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
    return stderr;
  };
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const json = (path: string) => JSON.parse(read(path)) as ToolsFile;
  const names = (path: string) => json(path).tools.map(({ name }) => name);
  return { folder, tools, write, wrap, done, refused, read, json, names };
}
