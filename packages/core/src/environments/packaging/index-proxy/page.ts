import { z } from 'zod';
import { resolveUrl } from './fetch.js';

export const JSON_PAGE = 'application/vnd.pypi.simple.v1+json';
export const HTML_PAGE = 'application/vnd.pypi.simple.v1+html';

const Hashes = z.record(z.string(), z.string());
const Metadata = z.union([z.boolean(), Hashes]).optional().catch(undefined);

/** A file of a project as PEP 691 describes it; other fields are dropped. */
const ProjectFile = z.object({
  filename: z.string(),
  url: z.string(),
  hashes: Hashes.catch({}),
  'requires-python': z.string().optional().catch(undefined),
  yanked: z.union([z.boolean(), z.string()]).optional().catch(undefined),
  'core-metadata': Metadata,
  'dist-info-metadata': Metadata,
  size: z.number().optional().catch(undefined),
  'upload-time': z.string().optional().catch(undefined),
});
export type ProjectFile = z.infer<typeof ProjectFile>;

const Page = z.object({
  meta: z.object({ 'api-version': z.string().regex(/^1\./) }),
  files: z.array(ProjectFile),
});

/** Returns the files on a project's page, with absolute addresses. Throws if it is not such a page. */
export function parsePage(text: string, contentType: string, address: URL): ProjectFile[] {
  const isJson = /^application\/(vnd\.pypi\.simple\.[\w.]+\+)?json\b/i.test(contentType);
  const { base, files } = isJson
    ? { base: address, files: Page.parse(JSON.parse(text)).files }
    : parseHtml(text, address);
  return files.flatMap((file) => {
    const url = resolveUrl(file.url, base);
    return url === undefined ? [] : [{ ...file, url: url.href }];
  });
}

// A quoted value may contain any character, and `>=3.10` is often not escaped.
const TAG = /<(a|base)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTE = /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

function parseHtml(text: string, address: URL): { base: URL; files: ProjectFile[] } {
  let base = address;
  const files: ProjectFile[] = [];
  for (const [, tag, inside] of text.matchAll(TAG)) {
    const attributes = parseAttributes(inside!);
    const href = attributes.get('href');
    const url = href === undefined ? undefined : resolveUrl(href, base);
    if (url === undefined) continue;
    if (tag!.toLowerCase() === 'base') base = url;
    else files.push(fileOfAnchor(url, attributes));
  }
  return { base, files };
}

function parseAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    attributes.set(name!.toLowerCase(), unescapeHtml(double ?? single ?? bare ?? ''));
  }
  return attributes;
}

function fileOfAnchor(url: URL, attributes: Map<string, string>): ProjectFile {
  const hashes = parseHash(url.hash.slice(1));
  url.hash = '';
  const requiresPython = attributes.get('data-requires-python');
  const yanked = attributes.get('data-yanked');
  const metadata = attributes.get('data-core-metadata') ?? attributes.get('data-dist-info-metadata');
  return {
    filename: lastPart(url),
    url: url.href,
    hashes,
    ...(requiresPython && { 'requires-python': requiresPython }),
    ...(yanked !== undefined && { yanked: yanked || true }),
    ...(metadata !== undefined && { 'core-metadata': metadata === 'true' ? true : parseHash(metadata) }),
  };
}

function lastPart(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.split('/').at(-1)!);
  } catch {
    return '';
  }
}

function parseHash(text: string): Record<string, string> {
  const [, kind, value] = /^(\w+)=([0-9a-f]+)$/i.exec(text) ?? [];
  return kind && value ? { [kind.toLowerCase()]: value } : {};
}

export function renderJson(project: string, files: ProjectFile[]): string {
  return JSON.stringify({ meta: { 'api-version': '1.0' }, name: project, files });
}

export function renderHtml(files: ProjectFile[]): string {
  const anchors = files.map((file) => {
    const [hash] = hashTexts(file.hashes);
    const metadata = file['core-metadata'] ?? file['dist-info-metadata'];
    const attributes = {
      href: hash ? `${file.url}#${hash}` : file.url,
      'data-requires-python': file['requires-python'],
      'data-yanked': file.yanked === true ? '' : file.yanked || undefined,
      'data-core-metadata': metadata && (metadata === true ? 'true' : (hashTexts(metadata)[0] ?? 'true')),
    };
    const texts = Object.entries(attributes).map(([name, value]) =>
      typeof value === 'string' ? ` ${name}="${escapeHtml(value)}"` : '',
    );
    return `<a${texts.join('')}>${escapeHtml(file.filename)}</a><br>\n`;
  });
  const meta = '<meta name="pypi:repository-version" content="1.0">';
  return `<!DOCTYPE html><html><head>${meta}</head><body>\n${anchors.join('')}</body></html>\n`;
}

/** `sha256=…` first: an anchor can hold one. */
function hashTexts(hashes: Record<string, string>): string[] {
  const texts = Object.entries(hashes).map(([kind, value]) => `${kind}=${value}`);
  return texts.sort((one, other) => Number(other.startsWith('sha256=')) - Number(one.startsWith('sha256=')));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
