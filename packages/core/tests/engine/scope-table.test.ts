import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import type { ScopeViolation } from '../../src/contract/outcome.js';
import type { ScopeRules } from '../../src/contract/profile.js';
import type { EnvironmentRef } from '../../src/engine/environment-ref.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { jobOf, type Ran, rulesOf, runIn, sharedEngine } from './engine.js';

/** A line of the table: what is decided of the code under the profile. */
interface Snippet {
  group: string;
  name: string;
  profile: string;
  /** "static RULE LINE", "run RULE LINE", "raises CLASS" or "allowed". */
  decision: string;
  needs: string[];
  code: string;
}

interface Table {
  snippets: Snippet[];
  profiles: Record<string, Partial<ScopeRules>>;
  files: Record<string, string>;
}

const scope = fileURLToPath(new URL('../scope', import.meta.url));
const { path: python } = await findInterpreter(undefined);
const table = JSON.parse(
  execFileSync(python, ['-B', join(scope, 'print_table.py')], { encoding: 'utf8' }),
) as Table;
/** What needs pandas is run where there is one, by the tests of the check itself. */
const snippets = table.snippets.filter(({ needs }) => needs.length === 0);
const files = Object.entries(table.files).map(([path, text]) => ({
  path,
  base64: Buffer.from(text).toString('base64'),
}));

/** An environment with the package of the tests installed, as a package is: outside of the work folder. */
function makeRef(): EnvironmentRef {
  const folder = join(temporaryFolder(), 'venv');
  execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
  const [version] = readdirSync(join(folder, 'lib'));
  cpSync(join(scope, 'packages'), join(folder, 'lib', version!, 'site-packages'), { recursive: true });
  return { environment: 'scope', generation: 'one', python: join(folder, 'bin/python'), roots: [folder] };
}

const ref = makeRef();
const engine = sharedEngine({ poolSize: 4, maxActive: 4, maxQueued: 1000 });

const tell = (when: 'static' | 'run', { rule, line }: ScopeViolation) => `${when} ${rule} ${line ?? '-'}`;

/** How it really ended, in the words of the table. */
function decisionOf({ verdict }: Ran, found: ScopeViolation[]): string {
  if (verdict.kind === 'ok') return 'allowed';
  if (verdict.kind === 'denied' && verdict.violations)
    return tell(found.length > 0 ? 'static' : 'run', verdict.violations[0]!);
  if (verdict.kind === 'python-error') return `raises ${verdict.exception.type.split('.').at(-1)}`;
  return verdict.kind === 'exited' ? 'raises SystemExit' : verdict.kind;
}

async function play({ code, profile }: Snippet): Promise<{ decision: string; ran: Ran }> {
  const rules = rulesOf(table.profiles[profile]);
  const more = { rules, imports: rules.defaultImports, files };
  const [{ violations }, ran] = await Promise.all([
    engine.examine(jobOf(code, more), ref),
    runIn(engine, code, { ...more, ref, profile: { name: profile } }),
  ]);
  return { decision: decisionOf(ran, violations), ran };
}

describe('the table of snippets, each in the sandbox under its profile', () => {
  const playing = new Map(snippets.map((snippet) => [snippet, play(snippet)]));

  test('is as long as it should be, and has every kind of decision', () => {
    expect(snippets.length).toBeGreaterThanOrEqual(150);
    const kinds = new Set(snippets.map(({ decision }) => decision.split(' ')[0]));
    expect(kinds).toEqual(new Set(['static', 'run', 'allowed', 'raises']));
  });

  test.for(snippets)('$group: $name', async (snippet) => {
    const { decision, ran } = await playing.get(snippet)!;
    expect(decision, `${snippet.code}\n${JSON.stringify(ran.verdict)}\n${ran.stderr.text}`).toBe(
      snippet.decision,
    );
    if (ran.verdict.kind === 'denied') {
      expect(ran.verdict).toMatchObject({
        code: 'DENIED',
        profile: table.profiles[snippet.profile]!.profile,
      });
      for (const { message } of ran.verdict.violations!) expect(message).toContain('the profile "');
    }
  });
});
