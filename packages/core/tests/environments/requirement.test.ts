import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PungiError } from '../../src/base/errors.js';
import type { Source } from '../../src/environments/requirements/direct-reference.js';
import { parseRequirement, parseRequirements } from '../../src/environments/requirements/requirement.js';

const ALL: Source[] = ['url', 'path', 'sdist'];
const textOf = (text: string, allowed: Source[] = []) => parseRequirement(text, allowed).text;

function refusal(text: unknown, allowed: Source[] = []): string {
  try {
    parseRequirement(text as string, allowed);
  } catch (error) {
    const { code, message, details } = error as PungiError;
    expect({ code, details }).toEqual({ code: 'INVALID_INPUT', details: { issues: [message] } });
    return message;
  }
  throw new Error(`${JSON.stringify(text)} was taken for a requirement.`);
}

describe('a requirement', () => {
  test.each([
    ['numpy', 'numpy'],
    ['  Django ', 'django'],
    ['zope.interface', 'zope-interface'],
    ['A__b..C', 'a-b-c'],
    ['3to2', '3to2'],
    ['requests[security,socks]', 'requests[security,socks]'],
    ['requests [ socks , security , socks ]', 'requests[security,socks]'],
    ['requests[]', 'requests'],
    ['numpy==1.26.4', 'numpy==1.26.4'],
    ['numpy >= 1.0 , < 2', 'numpy<2,>=1.0'],
    ['numpy(>=1.0,<2)', 'numpy<2,>=1.0'],
    ['numpy ( ~= 1.4 )', 'numpy~=1.4'],
    ['numpy>=1,>=1.0.0', 'numpy>=1,>=1.0.0'],
    ['numpy>=1,>=1', 'numpy>=1'],
    ['numpy==1.*', 'numpy==1.*'],
    ['numpy!=v1.02.*', 'numpy!=1.2.*'],
    ['numpy==1!2.0-ALPHA.3-4_dev5+Ubuntu-01', 'numpy==1!2.0a3.post4.dev5+ubuntu.1'],
    ['numpy>1.0.c1,<2.0preview', 'numpy<2.0rc0,>1.0rc1'],
    ['numpy<=1.0-rev2', 'numpy<=1.0.post2'],
    ['numpy===1.0', 'numpy===1.0'],
    ['numpy===1.00+X', 'numpy===1.00+x'],
    ['numpy;python_version<"3.12"', 'numpy ; python_version < "3.12"'],
    ["numpy>=1 ; 'linux' in sys_platform", 'numpy>=1 ; "linux" in sys_platform'],
    ['a;os_name  not   in"nt"', 'a ; os_name not in "nt"'],
    ['a;os_name==""', 'a ; os_name == ""'],
    ['a;(os_name=="x")', 'a ; os_name == "x"'],
    [
      'a;(os_name=="x"or os_name=="y")and(os_name=="z"and os_name=="w")or extra=="e"',
      'a ; (os_name == "x" or os_name == "y") and os_name == "z" and os_name == "w" or extra == "e"',
    ],
    [
      'a;python_version=="3.8.*"and"3.9"<=python_full_version',
      'a ; python_version == "3.8.*" and "3.9" <= python_full_version',
    ],
    ['a[x]>=1;platform_version=="#1 SMP (2.0)"', 'a[x]>=1 ; platform_version == "#1 SMP (2.0)"'],
  ])('%s is rendered as %s', (text, rendered) => {
    expect(textOf(text)).toBe(rendered);
    expect(textOf(rendered)).toBe(rendered);
  });

  test('has parts', () => {
    expect(parseRequirement('Foo.Bar[B_b,a]>=1,<2; os_name == "posix"')).toEqual({
      name: 'Foo.Bar',
      key: 'foo-bar',
      extras: ['a', 'B_b'],
      specifier: '<2,>=1',
      marker: 'os_name == "posix"',
      text: 'foo-bar[a,B_b]<2,>=1 ; os_name == "posix"',
    });
  });

  test.each([
    ['an option', '--index-url=https://example.org', /is an option/],
    ['a short option', '-r', /is an option/],
    ['an option behind white space', '  -e .', /is an option/],
    ['an option behind a package', 'numpy --no-binary :all:', /has an option, at "--no-binary :all:"/],
    ['a hash behind a package', 'numpy==1 --hash=sha256:00', /has an option/],
    ['a URL', 'https://example.org/numpy-1-py3-none-any.whl', /is a URL.+PACKAGE_SOURCES=url/],
    [
      'a URL with a name',
      'numpy @ https://example.org/numpy-1-py3-none-any.whl',
      /is a URL.+PACKAGE_SOURCES=url/,
    ],
    ['a repository', 'numpy@git+https://example.org/numpy.git', /is a URL.+PACKAGE_SOURCES=url/],
    ['a file URL', 'numpy @ file:///tmp/numpy-1-py3-none-any.whl', /is a path.+PACKAGE_SOURCES=path/],
    ['a file URL without slashes', 'file:numpy.whl', /is a path/],
    ['a folder', '.', /is a path/],
    ['a relative path', './numpy', /is a path/],
    ['a path below a folder', 'folder/numpy', /is a path/],
    ['an absolute path', '/tmp/numpy-1-py3-none-any.whl', /is a path/],
    ['a path in the home', '~/numpy', /is a path/],
    ['a path of Windows', 'C:\\numpy', /is a path/],
    ['a path with extras', '../x[y]', /is a path/],
    ['a wheel', 'numpy-1-py3-none-any.whl', /is a path/],
    ['an archive with a version', 'numpy.tar.gz>1', /is the name of a file/],
    ['a version that ends like a file', 'numpy(==1+a.zip)', /ends like the name of a file/],
    ['a path behind @', 'numpy @ ./numpy', /has a path after "@"/],
    ['a version behind @', 'numpy@1.0', /"numpy==1.0"/],
    ['a command behind ;', 'numpy; rm -rf /', /a marker compares one of os_name/],
    ['a command behind |', 'numpy | cat /etc/passwd', /has text for a shell/],
    ['a command behind &&', 'numpy && reboot', /has text for a shell/],
    ['a substitution', '$(reboot)', /has text for a shell/],
    ['a variable', 'numpy==$VERSION', /has no version after "=="/],
    ['a substitution in backticks', '`reboot`', /has text for a shell/],
    ['quotes', '"numpy"', /has text for a shell/],
    ['a redirection', 'numpy>/etc/passwd', /is a path|has no version after ">"/],
    ['a line break', 'numpy\npandas', /line break/],
    ['a line break at the end', 'numpy\n', /line break/],
    ['a null character', 'numpy\0', /control character/],
    ['a line separator', 'numpy\u2028', /line break/],
    ['an escape sequence', '\u001b[31mnumpy', /control character/],
    ['empty', '', /is empty/],
    ['blank', '   ', /is empty/],
    ['too long', `numpy>=${'1'.repeat(500)}`, /longer than 500/],
    [
      'too long once it is written in full',
      `a;${'os_name=="a"or '.repeat(32)}os_name==""`,
      /when written in full/,
    ],
    ['a comment', 'numpy # fast', /is not a requirement/],
    ['two packages', 'numpy pandas', /one requirement at a time/],
    ['two packages with a comma', 'numpy,pandas', /is not a requirement/],
    ['a single =', 'numpy=1.0', /"=="/],
    ['beyond ASCII', 'größe', /is not a requirement/],
    ['digits of another script', 'numpy>=١', /has no version/],
    ['a name that ends in a dash', 'numpy-', /is not a requirement/],
    ['no version', 'numpy>=', /has no version after ">="/],
    ['no version after a comma', 'numpy>=1,', /no version such as/],
    ['nothing in parentheses', 'numpy()', /no version such as/],
    ['an open parenthesis', 'numpy(>=1', /parenthesis that is not closed/],
    ['no version at all', 'numpy>=latest', /"latest" is not a version/],
    ['a prefix with >=', 'numpy>=1.*', /goes only with "==" and "!="/],
    ['a prefix of a pre-release', 'numpy==1a1.*', /after the numbers of a release/],
    ['a local version with <', 'numpy<1+cpu', /local version/],
    ['~= with one number', 'numpy~=1', /"~=1\.0"/],
    ['=== with no version', 'numpy===wild', /"wild" is not a version/],
    ['=== beside another version', 'numpy===1.0,<2', /goes alone/],
    ['open extras', 'numpy[x', /extras/],
    ['extras without commas', 'numpy[x y]', /extras/],
    ['extras with a comma too many', 'numpy[x,]', /extras/],
    ['an empty marker', 'numpy;', /after ";", at its end/],
    ['half a marker', 'numpy; os_name ==', /after ";", at its end/],
    ['an unknown variable', 'numpy; os == "x"', /a marker compares one of/],
    ['a marker of two texts', 'numpy; "a" == "b"', /compare a variable with a text/],
    ['a marker of two variables', 'numpy; os_name == sys_platform', /compare a variable with a text/],
    ['an open text', 'numpy; os_name == "x', /other than a marker/],
    ['a text with a shell in it', 'numpy; os_name == "$(x)"', /other than a marker/],
    ['a text with a backslash', 'numpy; os_name == "\\x41"', /other than a marker/],
    ['an open marker', 'numpy; (os_name == "x"', /parenthesis that is not closed/],
    ['a marker that goes on', 'numpy; os_name == "x" os_name == "y"', /one requirement at a time/],
    ['a Python that is no version', 'numpy; python_version < "new"', /"new", which is not a version/],
    ['~= with something that has no version', 'numpy; os_name ~= "1.0"', /which is for versions/],
    ['a number', 7, /A value of type number is not a text/],
  ])('is not %s', (_, text, sentence) => {
    expect(refusal(text)).toMatch(sentence);
  });
});

describe('a URL', () => {
  const wheel = 'https://example.org/a/numpy-1.0+cpu-1-cp312-cp312-linux_x86_64.whl';

  test('of a wheel takes permission for URLs', () => {
    expect(parseRequirement(`numpy @ ${wheel}`, ['url'])).toMatchObject({
      key: 'numpy',
      url: wheel,
      text: `numpy @ ${wheel}`,
    });
    expect(textOf(`numpy[x]@${wheel} ; os_name=="nt"`, ['url'])).toBe(
      `numpy[x] @ ${wheel} ; os_name == "nt"`,
    );
    expect(textOf(wheel, ['url'])).toBe(`numpy @ ${wheel}`);
    expect(textOf(`${wheel}#sha256=00`, ['url'])).toBe(`numpy @ ${wheel}#sha256=00`);
    expect(refusal(wheel, ['path', 'sdist'])).toContain('PACKAGE_SOURCES=path,sdist,url');
  });

  test('of something that is built takes permission for that as well', () => {
    for (const url of [
      'https://example.org/numpy-1.0.tar.gz',
      'https://example.org/latest',
      'git+https://example.org/numpy.git@v1.0#subdirectory=x',
      'git+ssh://git@example.org/numpy.git',
    ]) {
      expect(refusal(`numpy @ ${url}`, ['url'])).toContain('PACKAGE_SOURCES=url,sdist');
      expect(textOf(`numpy @ ${url}`, ['url', 'sdist'])).toBe(`numpy @ ${url}`);
    }
    expect(textOf('https://example.org/my-pkg-1.0.tar.gz', ['url', 'sdist'])).toBe(
      'my-pkg @ https://example.org/my-pkg-1.0.tar.gz',
    );
  });

  test.each([
    ['without a name that tells its package', 'git+https://example.org/numpy.git', /write "name @ "/],
    [
      'of a wheel that is another package',
      'pandas @ https://example.org/numpy-1-py3-none-any.whl',
      /another package: numpy/,
    ],
    ['of a wheel without the name of one', 'numpy @ https://example.org/numpy.whl', /name of a wheel/],
    ['of another kind', 'numpy @ ftp://example.org/numpy-1-py3-none-any.whl', /ftp:/],
    ['of a program', 'numpy @ git+ext://sh', /git\+ext:/],
    ['of a local repository', 'numpy @ git+file:///tmp/numpy', /not a URL that can be read/],
    ['without a host', 'numpy @ https:///numpy-1-py3-none-any.whl', /not a URL that can be read/],
    ['without slashes', 'numpy @ https:example.org/numpy-1-py3-none-any.whl', /not a URL that can be read/],
    [
      'with an option for a user',
      'numpy @ git+ssh://-oProxyCommand=x@example.org/x',
      /not a URL that can be read/,
    ],
    ['with an option for a host', 'numpy @ git+ssh://-oProxyCommand=x/numpy', /not a URL that can be read/],
    ['with an option for a revision', 'numpy @ git+https://example.org/numpy@--upload-pack=x', /revision/],
    [
      'with a variable that uv would fill in',
      `numpy @ https://example.org/\${SECRET}/numpy-1-py3-none-any.whl`,
      /percent-encoded/,
    ],
    [
      'with an encoded line break',
      'numpy @ https://example.org/%0a/numpy-1-py3-none-any.whl',
      /control characters/,
    ],
    ['with a marker stuck to it', `numpy @ ${wheel};os_name=="nt"`, /marker without a space/],
    ['with a version too', `numpy @ ${wheel} >=1`, /has text for a shell/],
  ])('is refused %s', (_, text, sentence) => {
    expect(refusal(text, ALL)).toMatch(sentence);
  });

  test('with a password is refused, and no message tells it', () => {
    const secret = 'https://me:s3cret@example.org/numpy-1-py3-none-any.whl';
    expect(refusal(secret, ['url'])).toMatch(/password/);
    expect(refusal(secret, ['url'])).not.toContain('s3cret');
    expect(refusal(`numpy @ ${secret}`)).not.toContain('s3cret');
    expect(refusal(`numpy ${secret}`, ALL)).not.toContain('s3cret');
    expect(refusal('git+https://me:s3cret@example.org/x', ALL)).not.toContain('s3cret');
  });
});

describe('a path', () => {
  test('to a wheel takes permission for paths, and becomes a URL', () => {
    const url = 'numpy @ file:///srv/my%20wheels/numpy-1.0%2Bcpu-py3-none-any.whl';
    expect(textOf('/srv/x/../my wheels/numpy-1.0+cpu-py3-none-any.whl', ['path'])).toBe(url);
    expect(textOf(url, ['path'])).toBe(url);
    expect(textOf('numpy @ file:///srv/my%20wheels/numpy-1.0+cpu-py3-none-any.whl', ['path'])).toBe(url);
    expect(textOf("/srv/O'Brien & $HOME;größe/numpy-1-py3-none-any.whl", ['path'])).toBe(
      'numpy @ file:///srv/O%27Brien%20%26%20%24HOME%3Bgr%C3%B6%C3%9Fe/numpy-1-py3-none-any.whl',
    );
  });

  test('to a source archive takes permission for building too', () => {
    expect(refusal('/srv/numpy-1.0.tar.gz', ['path'])).toContain('PACKAGE_SOURCES=path,sdist');
    expect(textOf('/srv/numpy-1.0.tar.gz', ['path', 'sdist'])).toBe('numpy @ file:///srv/numpy-1.0.tar.gz');
  });

  test.each([
    ['relative', './numpy-1-py3-none-any.whl', /whole path/],
    ['in the home', '~/numpy-1-py3-none-any.whl', /whole path/],
    ['of Windows', 'C:\\numpy-1-py3-none-any.whl', /whole path/],
    ['a name alone', 'numpy-1-py3-none-any.whl', /whole path/],
    ['a folder', '/srv/numpy', /name of a wheel/],
    ['a folder behind a name', 'numpy @ file:///srv/numpy', /name of a wheel/],
    ['on another machine', 'numpy @ file://host/numpy-1-py3-none-any.whl', /not a URL that can be read/],
    ['with an encoded slash', 'numpy @ file:///srv/..%2Fnumpy-1-py3-none-any.whl', /no file of this machine/],
    ['to another package', 'pandas @ file:///srv/numpy-1-py3-none-any.whl', /another package: numpy/],
    ['with extras', '/srv/numpy-1-py3-none-any.whl[x]', /name of a wheel/],
  ])('is refused where it is %s', (_, text, sentence) => {
    expect(refusal(text, ALL)).toMatch(sentence);
  });
});

describe('a list of requirements', () => {
  test('is read without its repetitions', () => {
    const list = parseRequirements(['NumPy >= 1', 'pandas', 'numpy>=1'], []);
    expect(list.map(({ text }) => text)).toEqual(['numpy>=1', 'pandas']);
    expect(parseRequirements([], [])).toEqual([]);
  });

  test('may ask for one package twice if markers tell when', () => {
    const list = ['numpy<2; python_version<"3.12"', 'numpy>=2; python_version>="3.12"'];
    expect(parseRequirements(list, [])).toHaveLength(2);
  });

  test('tells everything that is wrong with it at once', () => {
    const list = ['numpy>=1', '-e .', 'pandas', 'numpy==2', '', 7, 'pandas; os_name=="nt"'];
    expect(() => parseRequirements(list, [])).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        details: {
          issues: [
            expect.stringContaining('is an option'),
            '"numpy>=1" and "numpy==2" are about one package; give one of them.',
            expect.stringContaining('is empty'),
            'A value of type number is not a text.',
            expect.stringContaining('are about one package'),
          ],
        },
      }),
    );
  });

  test('has at most 100', () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
    expect(parseRequirements(names(100), [])).toHaveLength(100);
    expect(() => parseRequirements(names(101), [])).toThrow(/at most 100/);
  });
});

describe('whatever is tried', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        ...' \t.-_@;,()[]<>=!~*+"\'/:#$&|`\\',
        'numpy',
        '1.0',
        'os_name',
        'and ',
        ' in ',
        'https://x.org/',
      ),
      fc.string({ maxLength: 3 }),
      fc.string({ maxLength: 3, unit: 'binary' }),
    ),
    { maxLength: 12 },
  );
  const anything = fc.oneof(
    pieces.map((parts) => parts.join('')),
    pieces.map((parts) => `numpy${parts.join('')}`),
    pieces.map((parts) => `numpy @ https://x.org/${parts.join('')}`),
    pieces.map((parts) => `/${parts.join('')}/numpy-1-py3-none-any.whl`),
  );

  test('a requirement that is read reads the same once it is rendered, and holds nothing for a shell or uv to expand', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anything, (text) => {
        try {
          parseRequirement(text, ALL);
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_INPUT' });
          return;
        }
        accepted += 1;
        const first = parseRequirement(text, ALL);
        expect(parseRequirement(first.text, ALL)).toEqual({ ...first, name: expect.any(String) });
        expect(first.text).toMatch(/^[a-z0-9][ -~]*$/);
        expect(first.text).not.toMatch(/[$`|\\']/);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});
