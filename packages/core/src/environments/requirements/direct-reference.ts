import { basename, isAbsolute, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Misfit } from './cursor.js';
import { parseVersion } from './versions.js';

/** More than wheels of the index, as far as the configuration allows it. */
export type Source = 'url' | 'path' | 'sdist';

export interface DirectReference {
  url: string;
  /** The package in its file name. */
  packageName: string | undefined;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:/;
// Without characters that a shell interprets, and without "$": uv expands variables in ${…}.
const URL_CHARACTERS = /^[A-Za-z0-9\-._~:/?#[\]@!&()*+,=%]+$/;
const VERSION_CONTROL = /^(?:git|hg|svn|bzr)\+(?:https|http|ssh):$/;
const WHEEL = /^([A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)-([^-]+)(?:-[0-9][^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/i;
const SDIST = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)-([^-]+)\.(?:tar\.gz|zip)$/i;
/** What pip and uv treat as a file, even without a folder. */
const ARCHIVE = /\.(?:whl|zip|tar|tar\.gz|tgz|tar\.bz2|tbz|tar\.xz|txz|tlz|tar\.lz|tar\.lzma|tar\.zst)$/i;

export const isUrl = (text: string) => SCHEME.test(text);
export const isArchive = (text: string) => ARCHIVE.test(text);

/** `./x`, `~/x`, `C:\x`, `folder/x`; not `name @ https://host/x`. */
export function isPath(text: string): boolean {
  const beforeDetails = text.split(/[@;]/)[0]!.trim();
  return /^[.~/\\]|^[A-Za-z]:|^[^\s|&$`]*[/\\]/.test(beforeDetails) || isArchive(beforeDetails);
}

/** Checks a URL for a tool. The name of a wheel contains its package; anything else is built. */
export function readUrl(written: string, allowed: readonly Source[]): DirectReference {
  if (/^file:/i.test(written)) return readFileUrl(written, allowed);
  demand(allowed, 'url', 'is a URL');
  const url = parseUrl(written);
  // It would be stored and shown with the environment. "git@host" is not a secret.
  if (url.password !== '' || (url.username !== '' && !url.protocol.endsWith('ssh:'))) {
    throw new Misfit('is a URL with a password; put it into the configuration of uv or pip, or into .netrc');
  }
  if (VERSION_CONTROL.test(url.protocol)) {
    demand(allowed, 'sdist', 'is built from a repository, which runs its code');
    // A revision, user or host that starts with "-" would be an option of the program that fetches it.
    if (/@-|%40-/.test(url.pathname)) throw new Misfit('names a revision that starts with "-"');
    return { url: url.href, packageName: undefined };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Misfit(`is a URL of a kind that cannot be installed from: ${url.protocol}`);
  }
  return { url: url.href, packageName: nameOfFile(decode(url.pathname), allowed) };
}

/** Converts an absolute path to a wheel or a source archive into a `file:` URL. */
export function readPath(path: string, allowed: readonly Source[], fragment = ''): DirectReference {
  demand(allowed, 'path', 'is a path');
  if (!isAbsolute(path)) throw new Misfit('is not an absolute path; write the whole path');
  if (/\p{Cc}/u.test(path)) throw new Misfit('is a path with control characters');
  if (!WHEEL.test(basename(path)) && !SDIST.test(basename(path))) {
    throw new Misfit(
      'does not end with the name of a wheel (name-version-….whl) or a source archive (name-version.tar.gz)',
    );
  }
  const packageName = nameOfFile(path, allowed);
  const url = pathToFileURL(normalize(path)).href.replace(/[^A-Za-z0-9\-._~:/%]/g, percentEncode);
  return { url: `${url}${fragment}`, packageName };
}

function readFileUrl(written: string, allowed: readonly Source[]): DirectReference {
  demand(allowed, 'path', 'is a path');
  const url = parseUrl(written);
  if (url.search !== '') throw new Misfit('is a file URL with a query; leave out what follows "?"');
  try {
    return readPath(fileURLToPath(new URL(url.pathname, 'file:///')), allowed, url.hash);
  } catch (error) {
    if (error instanceof Misfit) throw error;
    throw new Misfit('is a file URL that names no file of this machine');
  }
}

function parseUrl(written: string): URL {
  if (!URL_CHARACTERS.test(written)) {
    throw new Misfit(
      'is a URL with characters that have to be percent-encoded, or a marker without a space before its ";"',
    );
  }
  if (/%(?:[01][0-9a-f]|7f)/i.test(written)) throw new Misfit('is a URL with control characters');
  // The parser would repair `https:host` and `https:///host`, and so read something else than a tool does.
  const isWhole = /^(?:file:\/\/|[a-z0-9+.-]+:\/\/[^/-])/i.test(written);
  const url = isWhole && URL.canParse(written) ? new URL(written) : undefined;
  const isHostFine = url?.protocol === 'file:' ? url.host === '' : /^[A-Za-z0-9[]/.test(url?.hostname ?? '');
  if (url === undefined || !isHostFine) throw new Misfit('is not a URL that can be read');
  return url;
}

function nameOfFile(path: string, allowed: readonly Source[]): string | undefined {
  const file = basename(path);
  const isWheel = /\.whl$/i.test(file);
  const [, packageName, version] = (isWheel ? WHEEL : SDIST).exec(file) ?? [];
  if (!isWheel) demand(allowed, 'sdist', 'is not a wheel and would be built, which runs its code');
  else if (packageName === undefined || parseVersion(version ?? '') === undefined) {
    throw new Misfit('does not end with the name of a wheel, such as name-1.0-py3-none-any.whl');
  }
  return packageName;
}

function demand(allowed: readonly Source[], source: Source, what: string): void {
  if (allowed.includes(source)) return;
  const also = [...allowed, source].join(',');
  throw new Misfit(
    `${what}, and the configuration does not allow that: it would take PACKAGE_SOURCES=${also}`,
  );
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Misfit('is a URL with percent signs that encode nothing');
  }
}

const percentEncode = (character: string) =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** For everything that is shown or logged: a URL may contain a password. */
export function hideCredentials(text: string): string {
  return text.replace(/(:\/\/)[^/\s@]*@/g, '$1…@');
}
