/** A version as PEP 440 reads it. Numbers are unbounded there, hence bigint. */
export interface Version {
  /** The normalised spelling. */
  text: string;
  epoch: bigint;
  release: bigint[];
  isPre: boolean;
  isPost: boolean;
  isDev: boolean;
  isLocal: boolean;
}

// The pattern in appendix B of PEP 440. Only ASCII digits: its `\d` would take those of any script.
const VERSION =
  /^v?(?:(?<epoch>[0-9]+)!)?(?<release>[0-9]+(?:\.[0-9]+)*)(?<pre>[-_.]?(?<preLetter>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>[0-9]+)?)?(?<post>-(?<postBare>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?<postNumber>[0-9]+)?)?(?<dev>[-_.]?dev[-_.]?(?<devNumber>[0-9]+)?)?(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/i;

const PRE_LETTERS: Record<string, string> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

/** Returns undefined if the text is not a version. */
export function parseVersion(text: string): Version | undefined {
  const parts = VERSION.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const epoch = BigInt(parts['epoch'] ?? 0);
  const release = parts['release']!.split('.').map(BigInt);
  const pieces = [epoch > 0n ? `${epoch}!` : '', release.join('.')];
  if (parts['pre'] !== undefined) {
    const letter = parts['preLetter']!.toLowerCase();
    pieces.push(`${PRE_LETTERS[letter] ?? letter}${BigInt(parts['preNumber'] ?? 0)}`);
  }
  if (parts['post'] !== undefined) {
    pieces.push(`.post${BigInt(parts['postBare'] ?? parts['postNumber'] ?? 0)}`);
  }
  if (parts['dev'] !== undefined) pieces.push(`.dev${BigInt(parts['devNumber'] ?? 0)}`);
  if (parts['local'] !== undefined) pieces.push(`+${normaliseLocal(parts['local'])}`);
  return {
    text: pieces.join(''),
    epoch,
    release,
    isPre: parts['pre'] !== undefined,
    isPost: parts['post'] !== undefined,
    isDev: parts['dev'] !== undefined,
    isLocal: parts['local'] !== undefined,
  };
}

function normaliseLocal(local: string): string {
  return local
    .toLowerCase()
    .split(/[-_.]/)
    .map((part) => (/^[0-9]+$/.test(part) ? String(BigInt(part)) : part))
    .join('.');
}

/** Compares two lists of release numbers: the shorter one is padded with zeros. */
export function compareReleases(left: readonly bigint[], right: readonly bigint[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index] ?? 0n, right[index] ?? 0n];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
