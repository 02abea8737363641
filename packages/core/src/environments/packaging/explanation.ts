const MOST_CHARACTERS = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const ANSI = /\u001b\[[0-9;?]*[A-Za-z]/g;

const PROGRESS =
  /^\s*(Resolved|Prepared|Installed|Uninstalled|Audited|Checked|Downloading|Downloaded|Building|Built|Updating|Updated|[+~-]) /;
const CHATTER = /^(Using Python |Using CPython |warning: |DEBUG |TRACE )/;

/** Removes colours and credentials. */
export function cleanText(text: string): string {
  return text
    .replace(ANSI, '')
    .replaceAll('\r', '')
    .replace(/(\w:\/\/)[^\s/@]+@/g, '$1***@');
}

/** Returns the step that a line of a tool reports, if any. */
export function progressOf(line: string): string | undefined {
  const text = cleanText(line);
  return PROGRESS.test(text) ? text.trim() : undefined;
}

/** Returns the tool's explanation of a failure, without progress and warnings. */
export function explanationOf(output: string): string {
  const lines: string[] = [];
  let isChatter = false;
  for (const line of cleanText(output).split('\n')) {
    // A warning goes on in lines that are indented, as is the head of an error that has a sign before it.
    isChatter = CHATTER.test(line) || (isChatter && /^\s+[^\s×]/.test(line));
    if (!isChatter && !PROGRESS.test(line)) lines.push(line.trimEnd());
  }
  const text = lines.join('\n').trim();
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
