import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  nameKey,
  parseRequirement,
  type Requirement,
} from '../../src/environments/requirements/requirement.js';
import {
  type Clause,
  parseSpecifier,
  renderSpecifier,
  satisfies,
} from '../../src/environments/requirements/versions.js';
import { listInterpreters } from '../../src/sandbox/interpreter.js';

import { clause, joined, list, requirement } from './requirement-texts.js';

/** pip brings the `packaging` library, which reads requirements for pip itself. */
const JUDGE = join(import.meta.dirname, 'fixtures', 'judge_requirements.py');

interface Judgement {
  error?: string;
  key: string;
  extras: string[];
  specifier: string;
  url: string | null;
  marker: unknown[] | null;
}

class Peer {
  private constructor(
    readonly python: string,
    readonly version: string,
  ) {}

  /** One for each version of the library that is on this machine. */
  static async find(): Promise<Peer[]> {
    const byVersion = new Map<string, Peer>();
    for (const { path } of await listInterpreters()) {
      try {
        const { version } = ask(path, {});
        byVersion.set(version, new Peer(path, version));
      } catch {} // without pip
    }
    if (byVersion.size === 0) throw new Error('No interpreter of this machine has pip: install python3-pip.');
    return [...byVersion.values()];
  }

  requirements(texts: string[]): Judgement[] {
    return ask(this.python, { requirements: texts }).requirements;
  }

  contains(pairs: [version: string, specifier: string][]): boolean[] {
    return ask(this.python, { contains: pairs }).contains;
  }

  /** Before 22, the library stumbled over spellings that are not normal, such as `1.0-alpha`. */
  get readsAnySpelling(): boolean {
    return Number.parseInt(this.version, 10) >= 22;
  }
}

function ask(
  python: string,
  order: object,
): { version: string; requirements: Judgement[]; contains: boolean[] } {
  const output = execFileSync(python, ['-I', JUDGE], {
    input: JSON.stringify(order),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return JSON.parse(output.toString());
}

const peers = await Peer.find();

function read(text: string): Requirement | undefined {
  try {
    return parseRequirement(text, ['url', 'path', 'sdist']);
  } catch {
    return undefined;
  }
}

/** What we accept, the library accepts, and it is the same to it as what we render it to. */
function expectAgreement(peer: Peer, texts: string[]): number {
  const accepted = texts.flatMap((text) => {
    const requirement = read(text);
    return requirement === undefined ? [] : [{ text, requirement }];
  });
  const rendered = peer.requirements(accepted.map(({ requirement }) => requirement.text));
  const written = peer.readsAnySpelling ? peer.requirements(accepted.map(({ text }) => text)) : rendered;
  for (const [index, { text, requirement }] of accepted.entries()) {
    expect(rendered[index], text).toEqual({
      key: requirement.key,
      extras: requirement.extras.map(nameKey).sort(),
      specifier: requirement.specifier,
      url: requirement.url ?? null,
      marker: requirement.marker === undefined ? null : expect.any(Array),
    });
    expect(normalise(written[index]!), text).toEqual(rendered[index]);
  }
  return accepted.length;
}

/** The library leaves URLs as they are. */
const normalise = ({ url, ...rest }: Judgement) => ({ ...rest, url: url && new URL(url).href });

const CORPUS = [
  'A',
  'A.B-C_D',
  'aa',
  'name',
  'name<=1',
  'name>=3',
  'name>=3,<2',
  'name@http://example.org',
  "name [fred,bar] @ http://example.org ; python_version=='2.7'",
  "name[quux, strange];python_version<'2.7' and platform_version=='2'",
  "name; os_name=='a' or os_name=='b'",
  "name; os_name=='a' and os_name=='b' or os_name=='c'",
  "name; os_name=='a' and (os_name=='b' or os_name=='c')",
  "name; os_name=='a' or os_name=='b' and os_name=='c'",
  "name; (os_name=='a' or os_name=='b') and os_name=='c'",
  'requests [security,tests] >= 2.8.1, == 2.8.* ; python_version < "2.7"',
  'pip @ https://example.org/pip/archive/1.3.1.zip#sha1=da9234ee9982d4bbb3c72346a6de940a148ea686',
  'x@https://example.org/x-1-py3-none-any.whl?a=b&c=d#sha256=00 ; os_name == "nt"',
  'x @ git+https://example.org/x.git@v1#subdirectory=y',
  'x @ file:///srv/x-1-py3-none-any.whl',
  'numpy~=1.4.2',
  'numpy~=2.2.post3',
  'numpy==1.1.post1',
  'numpy!=1.1.*',
  'numpy>1.7.post2',
  'numpy===1.0 ',
  'numpy==1.0+abc.7',
  'numpy (>=1.0)',
  'a;python_version in "3.8 3.9"',
  'a;"3.8" in python_version',
];

describe.each(peers)('packaging $version agrees', (peer) => {
  test('on the examples of the PEPs', () => {
    expect(expectAgreement(peer, CORPUS)).toBe(CORPUS.length);
  });

  test('on requirements of every form', () => {
    fc.assert(
      fc.property(fc.array(requirement, { minLength: 300, maxLength: 300 }), (texts) => {
        // None is refused: a parser that accepts nothing would agree with everybody.
        expect(texts.filter((text) => read(text) === undefined)).toEqual([]);
        expectAgreement(peer, texts);
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test('on what becomes of them when something is changed', () => {
    const change = fc.record({
      at: fc.nat(),
      cut: fc.nat(2),
      put: fc.oneof(fc.constant(''), fc.constantFrom(...' .-_,;@()[]<>=!~*+"\'v1a#')),
    });
    const changed = fc
      .tuple(requirement, fc.array(change, { minLength: 1, maxLength: 2 }))
      .map(([text, changes]) =>
        changes.reduce((now, { at, cut, put }) => {
          const place = at % (now.length + 1);
          return `${now.slice(0, place)}${put}${now.slice(place + cut)}`;
        }, text),
      );
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(changed, { minLength: 500, maxLength: 500 }), (texts) => {
        accepted += expectAgreement(peer, texts);
      }),
      { numRuns: 5, endOnFailure: true },
    );
    expect(accepted).toBeGreaterThan(300);
  });

  test('on which versions of Python are within a specifier', () => {
    const python = fc.tuple(fc.constantFrom(2, 3), fc.nat(14), fc.nat(12)).map((parts) => parts.join('.'));
    const near = fc.tuple(python, fc.constantFrom('', '', 'rc1', '.post1', '.dev2', 'a1.post2')).map(
      ([text, end]) =>
        `${text
          .split('.')
          .slice(0, 2 + (end.length % 2))
          .join('.')}${end}`,
    );
    const operator = fc.constantFrom('<', '<=', '>', '>=', '==', '!=', '~=', '===');
    const bound = fc.oneof(
      joined(operator, near),
      joined(
        fc.constantFrom('==', '!='),
        near.map((text) => `${/^[\d.]*\d/.exec(text)![0]}.*`),
      ),
      clause.map((text) => text.replaceAll('\t', ' ')),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(python, list(bound)), { minLength: 500, maxLength: 500 }), (pairs) => {
        const ours = pairs.map(([version, text]) => satisfies(version, text));
        // Spelled in the normal way: the library compares spellings where it should compare versions (~=1.0-a1).
        const theirs = peer.contains(
          pairs.map(([version, text]) => [version, renderSpecifier(parseSpecifier(text) as Clause[])]),
        );
        expect(pairs.filter((_, index) => ours[index] !== theirs[index])).toEqual([]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});
