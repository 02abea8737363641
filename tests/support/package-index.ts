import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { type Archive, buildArchives, normalize } from './package-archive.js';
import { PACKAGES, type TestPackage } from './package-world.js';

export { type EvilTargets, evilSource, PACKAGES, type TestPackage } from './package-world.js';

/** A package index on this machine. It answers from the test's own process, which must not block meanwhile. */
export interface PackageIndex {
  url: string;
  /** Variables that make uv and pip use it and nothing else. */
  env: Record<string, string>;
  /** Every path that was asked for. */
  requests: string[];
  /** From then on connections are refused. */
  stop(): Promise<void>;
  /** While it is on, requests stay open without an answer; when it is switched off they get theirs. */
  hang(on: boolean): void;
  /** Paths that match are answered with the status, until what is returned is called. */
  fail(path: RegExp, status: number): () => void;
}

/** One for the whole test file, stopped after its last test. */
export async function sharedPackageIndex(packages?: TestPackage[]): Promise<PackageIndex> {
  const index = await startPackageIndex(packages);
  afterAll(() => index.stop());
  return index;
}

export async function startPackageIndex(packages: TestPackage[] = PACKAGES): Promise<PackageIndex> {
  const shelf = new Shelf(packages);
  const requests: string[] = [];
  const failures = new Set<{ path: RegExp; status: number }>();
  let held: { until: Promise<void>; release: () => void } | undefined;

  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://index').pathname;
    requests.push(path);
    await held?.until;
    const failure = [...failures].find((one) => one.path.test(path));
    if (failure) send(response, failure.status);
    else await answer(shelf, path, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`;

  const hang = (on: boolean) => {
    held?.release();
    held = on ? pausing() : undefined;
  };
  return {
    url,
    env: onlyIndex(url),
    requests,
    hang,
    fail(path, status) {
      const failure = { path, status };
      failures.add(failure);
      return () => failures.delete(failure);
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      hang(false);
      await closed;
    },
  };
}

function pausing() {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

/** The empty ones stand against what the machine has set: tools take an empty list for none. */
const onlyIndex = (url: string) => ({
  UV_DEFAULT_INDEX: url,
  UV_INDEX_URL: url,
  UV_INDEX: '',
  UV_EXTRA_INDEX_URL: '',
  UV_FIND_LINKS: '',
  UV_NO_CONFIG: '1',
  UV_PYTHON_DOWNLOADS: 'never',
  PIP_INDEX_URL: url,
  PIP_EXTRA_INDEX_URL: '',
  PIP_FIND_LINKS: '',
  PIP_CONFIG_FILE: '/dev/null',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  NO_PROXY: '*',
  no_proxy: '*',
});

interface Shelved extends Archive {
  described: TestPackage;
}

/** The archives of a project are built when it is first asked for. */
class Shelf {
  readonly #packages: TestPackage[];
  readonly #built = new Map<string, Shelved[]>();

  constructor(packages: TestPackage[]) {
    this.#packages = packages;
  }

  get projects(): string[] {
    return [...new Set(this.#packages.map(({ name }) => normalize(name)))];
  }

  filesOf(project: string): Shelved[] {
    let files = this.#built.get(project);
    if (!files) {
      files = this.#packages
        .filter(({ name }) => normalize(name) === project)
        .flatMap((described) => buildArchives(described).map((archive) => ({ ...archive, described })));
      this.#built.set(project, files);
    }
    return files;
  }

  find(project: string, filename: string): Shelved | undefined {
    return this.filesOf(project).find((file) => file.filename === filename);
  }
}

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json';

async function answer(shelf: Shelf, path: string, request: IncomingMessage, response: ServerResponse) {
  const [, area, project, filename, more] = path.split('/');
  const isPage = area === 'simple' && filename === '' && more === undefined;
  if (isPage && project && shelf.projects.includes(project)) {
    const wantsJson = request.headers.accept?.includes(JSON_TYPE) ?? false;
    const links = shelf.filesOf(project).map(linkTo);
    const page = wantsJson ? jsonPage(project, links) : htmlPage(links);
    const type = wantsJson ? JSON_TYPE : 'text/html; charset=utf-8';
    return send(response, 200, page, { 'content-type': type, 'cache-control': 'max-age=600, public' });
  }
  if (area !== 'files' || !project || !filename) return send(response, 404);
  const isMetadata = filename.endsWith('.metadata');
  const file = shelf.find(project, filename.replace(/\.metadata$/, ''));
  const content = isMetadata ? file?.metadata : file?.content;
  if (!file || !content) return send(response, 404);
  const headers = {
    'content-length': content.length,
    'cache-control': 'max-age=365000000, immutable, public',
  };
  if (isMetadata || !file.described.trickleMs) return send(response, 200, content, headers);
  response.writeHead(200, headers);
  await trickle(response, content, file.described.trickleMs);
}

function send(response: ServerResponse, status: number, content: string | Buffer = '', headers = {}): void {
  response.writeHead(status, headers).end(content);
}

const PIECES = 40;

async function trickle(response: ServerResponse, content: Buffer, overMs: number): Promise<void> {
  const size = Math.ceil(content.length / PIECES);
  for (let from = 0; from < content.length && !response.destroyed; from += size) {
    response.write(content.subarray(from, from + size));
    await pause(overMs / PIECES);
  }
  response.end();
}

type Link = ReturnType<typeof linkTo>;

function linkTo({ filename, content, metadata, described }: Shelved) {
  return {
    filename,
    // Relative, as PEP 503 allows: an index behind another address still works.
    url: `../../files/${normalize(described.name)}/${filename}`,
    sha256: sha256(described.flaw === 'wrong-hash' ? Buffer.from('other') : content),
    size: content.length,
    requiresPython: described.requiresPython,
    metadataSha256: metadata && sha256(metadata),
  };
}

const jsonPage = (name: string, links: Link[]) =>
  JSON.stringify({
    meta: { 'api-version': '1.1' },
    name,
    versions: [...new Set(links.map(({ filename }) => filename.split('-')[1]!.replace('.tar.gz', '')))],
    files: links.map(({ filename, url, sha256, size, requiresPython, metadataSha256 }) => ({
      filename,
      url,
      size,
      hashes: { sha256 },
      'upload-time': '2026-01-01T00:00:00Z',
      ...(requiresPython && { 'requires-python': requiresPython }),
      ...(metadataSha256 && { 'core-metadata': { sha256: metadataSha256 } }),
    })),
  });

const htmlPage = (links: Link[]) => {
  const anchors = links.map(({ filename, url, sha256, requiresPython, metadataSha256 }) => {
    const python = requiresPython ? ` data-requires-python="${requiresPython.replaceAll('>', '&gt;')}"` : '';
    const metadata = metadataSha256 ? ` data-core-metadata="sha256=${metadataSha256}"` : '';
    return `<a href="${url}#sha256=${sha256}"${python}${metadata}>${filename}</a><br>`;
  });
  return `<!DOCTYPE html><html><body>\n${anchors.join('\n')}\n</body></html>\n`;
};

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
