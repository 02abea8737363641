import { readdirSync } from 'node:fs';

const MOST = 2000;

/** Paths below a folder, as bytes: attackers choose names that are no text, and folders that cannot be entered. */
export function filesBelow(folder: string): string[] {
  const found: Buffer[] = [];
  const left: Buffer[] = [Buffer.from(folder)];
  for (let next = left.pop(); next !== undefined && found.length < MOST; next = left.pop()) {
    for (const entry of entriesOf(next)) {
      const path = Buffer.concat([next, Buffer.from('/'), entry.name]);
      found.push(path);
      if (entry.isDirectory()) left.push(path);
    }
  }
  return found.map((path) => path.toString('latin1').slice(folder.length + 1));
}

function entriesOf(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return []; // closed, too deep, or gone meanwhile: it counts as one entry
  }
}
