import { describe, expect, test } from 'vitest';
import type { WrapMode } from '../../core/src/contract/wrap.js';
import { chooseTools, remarksFor, requireTools } from '../src/tools-file/choose-tools.js';
import { anyWords, discovered, functionTool, scriptTool } from './tools.js';

const both = discovered({
  functions: [functionTool('total'), functionTool('plot')],
  scripts: [scriptTool('report')],
});
const guarded = discovered({ functions: [functionTool('total')], scripts: [anyWords('report')] });
const plain = discovered({ scripts: [anyWords('report')] });

const names = (discovery: typeof both, mode: WrapMode, functions?: string[]) =>
  chooseTools(discovery, { mode, functions }).tools.map(({ name }) => name);

describe('the mode', () => {
  test.each([
    ['function', ['total', 'plot']],
    ['script', ['report']],
    ['both', ['total', 'plot', 'report']],
    ['auto', ['total', 'plot', 'report']],
  ] as const)('%s chooses %j of a script with functions and a command line', (mode, expected) => {
    expect(names(both, mode)).toEqual(expected);
  });

  test('auto offers a command line that the script does not declare only where there is nothing else', () => {
    expect(names(guarded, 'auto')).toEqual(['total']);
    expect(names(guarded, 'both')).toEqual(['total', 'report']);
    expect(names(plain, 'auto')).toEqual(['report']);
  });
});

test('a list of words that the script declares, beside a standard input, is a command line of its own', () => {
  const declared = { ...anyWords('report'), parser: 'argparse' as const };
  expect(names(discovered({ functions: [functionTool('total')], scripts: [declared] }), 'auto')).toEqual([
    'total',
    'report',
  ]);
});

test('why a function of the command line is left out depends on whether that is a tool', () => {
  const serves = { line: 4, name: 'main', reason: 'It serves the command line.', isSkipped: true };
  const reason = (tools: Parameters<typeof remarksFor>[1]) => remarksFor([serves], tools)[0]?.reason;
  expect(reason([scriptTool('report')])).toBe('It serves the command line, which is a tool itself.');
  expect(reason([functionTool('total')])).toMatch(/which is a tool with the mode "script" or "both"\.$/);
});

describe('chosen functions', () => {
  test('are the only ones, and without the command line unless it is asked for', () => {
    expect(names(both, 'auto', ['plot'])).toEqual(['plot']);
    expect(names(both, 'function', ['plot'])).toEqual(['plot']);
    expect(names(both, 'both', ['plot'])).toEqual(['plot', 'report']);
  });

  test('that are not there are named, with the reason of each', () => {
    const remark = { line: 12, name: 'draw(*args)', reason: 'takes any number of values', isSkipped: true };
    const discovery = discovered({ functions: [functionTool('total')], remarks: [remark] });
    const { missing } = chooseTools(discovery, {
      mode: 'auto',
      functions: ['draw', 'totl', 'zebra', 'total'],
    });
    expect(missing).toEqual([
      { name: 'draw', why: 'line 12: takes any number of values' },
      { name: 'totl', why: 'there is no such function, but "total"' },
      { name: 'zebra', why: 'there is no such function; there are total' },
    ]);
  });
});

test('a command line that is called like a function gets a name of its own', () => {
  const discovery = discovered({
    functions: [functionTool('report'), functionTool('report_script')],
    scripts: [scriptTool('report')],
  });
  expect(names(discovery, 'both')).toEqual(['report', 'report_script', 'report_script_2']);
});

test('a name that is as long as it may be stays so', () => {
  const long = 'x'.repeat(128);
  const discovery = discovered({ functions: [functionTool(long)], scripts: [scriptTool(long)] });
  const [, second = ''] = names(discovery, 'both');
  expect(second).toHaveLength(128);
  expect(second).toMatch(/_script$/);
});

describe('what is asked for but cannot be had is refused', () => {
  const draw = { line: 12, name: 'draw', reason: 'It takes anything.', isSkipped: true };

  test('where there is nothing at all, with the reasons', () => {
    expect(() => requireTools(discovered({ remarks: [draw] }), { mode: 'auto' }, 'report.py')).toThrow(
      /^There is nothing to wrap in report\.py\. Line 12, draw: It takes anything\.$/,
    );
  });

  test('where it could not be loaded, with the problem', () => {
    const problem = "report.py cannot be loaded: ModuleNotFoundError: No module named 'requests'.";
    expect(() => requireTools(discovered({}), { mode: 'auto' }, 'report.py', problem)).toThrow(
      `There is nothing to wrap in report.py. ${problem}`,
    );
  });

  test('where another mode would find something', () => {
    expect(() => requireTools(plain, { mode: 'function' }, 'report.py')).toThrow(
      'With another mode there is',
    );
  });

  test('where functions are missing, each with its reason', () => {
    const discovery = discovered({ functions: [functionTool('total')], remarks: [draw] });
    const choice = { mode: 'auto', functions: ['total', 'draw'] } as const;
    expect(() => requireTools(discovery, choice, 'report.py')).toThrow('"draw": line 12: It takes anything.');
    expect(requireTools(discovery, { mode: 'auto' }, 'report.py')).toHaveLength(1);
  });
});
