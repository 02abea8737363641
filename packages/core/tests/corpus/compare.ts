import type { Outcome, Verdict } from '../../src/contract/outcome.js';
import type { Ending } from './plain-python.js';

/** What cannot be the same in two processes, or in two places. */
const MUST_DIFFER: readonly [RegExp, string][] = [
  // The landlock tier has no root of its own: its folders lie below one of the server's.
  [/\/[^\s'":]*\/pungi-\d+-\w+\/work\/of-\w+\/environment-\d+/g, '/env'],
  [/\/[^\s'":]*\/pungi-\d+-\w+\/work\/of-\w+\/[\w-]+\/(work|tmp)\b/g, '/$1'],
  // Tracebacks name the script without its folder.
  [/(?<=File ")\/work\/(?=main\.py")/g, ''],
  [/\bat 0x[0-9a-f]+/g, 'at 0x…'],
  [/\bpid[ =]\d+/g, 'pid …'],
  [/\bin \d+\.\d+s\b/g, 'in …s'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+/g, 'now'],
];

/** Folders that are named differently inside and outside. */
export type Places = readonly (readonly [path: string, name: string])[];

const normalize = (text: string, places: Places = []): string =>
  MUST_DIFFER.reduce(
    (all, [pattern, name]) => all.replace(pattern, name),
    places.reduce((all, [path, name]) => all.replaceAll(path, name), text),
  );

/** Later calls of a session have scripts of their own: main_2.py, main_3.py. */
export const withoutNumbers = (outcome: Outcome): Outcome =>
  JSON.parse(JSON.stringify(outcome).replaceAll(/main_\d+/g, 'main'));

export function normalizeEnding(ending: Ending, places: Places): Ending {
  return {
    stdout: normalize(ending.stdout, places),
    stderr: normalize(ending.stderr, places),
    status: ending.status,
  };
}

/** The outcome as whoever starts `python main.py` would see it. `plain` is what plain Python wrote to stderr. */
export function endingOf(outcome: Outcome, plain: string): Ending {
  const stdout = normalize(outcome.stdout.text);
  const stderr = normalize(outcome.stderr.text);
  return { stdout, stderr: withTraceback(stderr, outcome.verdict, plain), status: statusOf(outcome.verdict) };
}

/** The traceback of an uncaught exception is part of the verdict: it is put where plain Python wrote it. */
function withTraceback(stderr: string, verdict: Verdict, plain: string): string {
  const traceback = verdict.kind === 'python-error' ? normalize(verdict.exception.traceback) : '';
  // A hook of the script may have written something else, or nothing.
  if (stderr === plain || stderr.includes(traceback)) return stderr;
  const isThere = plain.includes(traceback) && plain.replace(traceback, () => '') === stderr;
  return isThere ? plain : stderr + traceback;
}

function statusOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'ok':
      return '0';
    case 'python-error':
      // Plain Python ends itself by the signal, after its traceback.
      return verdict.exception.type === 'KeyboardInterrupt' ? 'SIGINT' : '1';
    case 'exited':
      return `${verdict.status}`;
    case 'killed':
      return verdict.signal;
    default:
      return `${verdict.kind}: ${verdict.message}`;
  }
}
