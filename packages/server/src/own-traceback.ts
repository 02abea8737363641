const FRAME = /^ {2}File "([^"]*)", line \d+/;
/** The work folder of a run: in a namespace, and elsewhere. */
const WORK_FOLDER = /^( {2}File ")(?:\/work|\/[^"]*\/work\/of-\w+\/[\w-]+\/work)\/(?=[^"]*", line \d+)/;
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|<frozen )/;
const IN_FRAME = /^(?: {4}|\s*$| {2}\[Previous line repeated)/;
/** Lines of exception groups, which nest tracebacks. */
const GROUP = /^ {2,}[|+]/m;
const CHAINED = /\n\n((?:During handling of|The above exception was)[^\n]+)\n\n/;

/**
 * Returns the frames of the caller's own code, by relative paths, and the exception: the script, and files of its work folder. Frames of libraries say little
 * to whoever wrote the code, and are left out; so are earlier exceptions that only libraries saw.
 */
export function ownTraceback(traceback: string): string {
  if (GROUP.test(traceback)) return traceback;
  const parts = traceback.split(CHAINED);
  const shown: string[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const isLast = at === parts.length - 1;
    const { text, hasOwn } = ownFrames(parts[at]!);
    if (!isLast && !hasOwn) continue;
    shown.push(isLast ? text : `${text}\n\n${parts[at + 1]}\n\n`);
  }
  return shown.join('');
}

function ownFrames(traceback: string): { text: string; hasOwn: boolean } {
  const kept: string[] = [];
  let isForeign = false;
  let hasOwn = false;
  for (const printed of traceback.split('\n')) {
    const line = printed.replace(WORK_FOLDER, '$1');
    const path = FRAME.exec(line)?.[1];
    if (path !== undefined) isForeign = ABSOLUTE.test(path);
    else if (!IN_FRAME.test(line)) isForeign = false;
    hasOwn ||= path !== undefined && !isForeign;
    if (!isForeign) kept.push(line);
  }
  return { text: kept.join('\n'), hasOwn };
}
