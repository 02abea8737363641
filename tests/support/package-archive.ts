import { createCipheriv, createHash } from 'node:crypto';
import { type Entries, tarGz, zip } from './archive-formats.js';
import type { TestPackage } from './package-world.js';

/** A file of the index. */
export interface Archive {
  filename: string;
  content: Buffer;
  /** METADATA, where the index offers it on its own. */
  metadata?: Buffer;
}

/** PEP 503: one spelling for each project. */
export const normalize = (name: string): string => name.replace(/[-_.]+/g, '-').toLowerCase();

/** The files that a package has on the index. */
export function buildArchives(described: TestPackage): Archive[] {
  const { sdist = false, wheel = !sdist } = described;
  return [...(wheel ? [buildWheel(described)] : []), ...(sdist ? [buildSdist(described)] : [])];
}

export function buildWheel(described: TestPackage): Archive {
  const tree = wheelTree(described);
  const content = zip(tree);
  return {
    filename: `${stem(described)}-py3-none-any.whl`,
    content: described.flaw === 'truncated' ? content.subarray(0, Math.floor(content.length / 2)) : content,
    metadata: Buffer.from(metadataOf(described)),
  };
}

function buildSdist(described: TestPackage): Archive {
  const backend = described.backend ?? {};
  const inside = new Map<string, string | Buffer>([
    ['PKG-INFO', metadataOf(described)],
    // Nothing is said about the project here, so that whoever wants to know must run the backend.
    ['pyproject.toml', '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'],
    ...Object.entries(backend),
    ...[...wheelTree(described)].map(([path, content]) => [`wheel/${path}`, content] as const),
  ]);
  const entries = [...inside].map(
    ([path, content]) => [`${stem(described)}/${path}`, Buffer.from(content)] as const,
  );
  return { filename: `${stem(described)}.tar.gz`, content: tarGz(new Map(entries)) };
}

/** `name-version` as file names have it. */
const stem = ({ name, version }: TestPackage) => `${normalize(name).replaceAll('-', '_')}-${version}`;

function wheelTree(described: TestPackage): Entries {
  const { name, version, scripts = {}, claims = [], sizeMb = 0 } = described;
  const module = normalize(name).replaceAll('-', '_');
  const files = described.files ?? { [`${module}.py`]: `__version__ = '${version}'\n` };
  const tree: Entries = new Map();
  for (const [path, text] of Object.entries(files)) tree.set(path, Buffer.from(text));
  if (sizeMb > 0) tree.set(`${module}.bin`, incompressible(sizeMb));
  const info = `${stem(described)}.dist-info`;
  tree.set(`${info}/METADATA`, Buffer.from(metadataOf(described)));
  tree.set(
    `${info}/WHEEL`,
    Buffer.from('Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
  );
  const commands = Object.entries(scripts).map(([command, target]) => `${command} = ${target}\n`);
  if (commands.length > 0) {
    tree.set(`${info}/entry_points.txt`, Buffer.from(`[console_scripts]\n${commands.join('')}`));
  }
  const record = [...tree].map(([path, content]) => `${path},sha256=${digest(content)},${content.length}\n`);
  record.push(...claims.map((path) => `${path},,\n`));
  tree.set(`${info}/RECORD`, Buffer.from(`${record.join('')}${info}/RECORD,,\n`));
  return tree;
}

function metadataOf({ name, version, requires = [], extras = {}, requiresPython }: TestPackage): string {
  const lines = ['Metadata-Version: 2.1', `Name: ${name}`, `Version: ${version}`, 'Summary: Of the tests'];
  if (requiresPython) lines.push(`Requires-Python: ${requiresPython}`);
  lines.push(...requires.map((requirement) => `Requires-Dist: ${requirement}`));
  for (const [extra, requirements] of Object.entries(extras)) {
    lines.push(`Provides-Extra: ${extra}`);
    lines.push(...requirements.map((requirement) => `Requires-Dist: ${requirement}; extra == "${extra}"`));
  }
  return `${lines.join('\n')}\n`;
}

const digest = (content: Buffer) => createHash('sha256').update(content).digest('base64url');

/** The key stream of a cipher: the same every time, and nothing can make it smaller. */
function incompressible(sizeMb: number): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(sizeMb * 2 ** 20));
}
