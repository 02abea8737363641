import { describe, expect, test } from 'vitest';
import { PungiError } from '../../core/src/base/errors.js';
import type { ToolsFile } from '../../core/src/contract/wrap.js';
import {
  makeToolsFile,
  toolsFileText,
  updateToolsFile,
  type Wrapping,
} from '../src/tools-file/make-tools-file.js';
import { readToolsFile } from '../src/tools-file/read-tools-file.js';
import { discovered, functionTool, lookOf, scriptTool, texts } from './tools.js';

const WRAPPING: Wrapping = {
  name: 'report',
  script: 'report.py',
  mode: 'auto',
  environment: null,
  profile: null,
};
const look = lookOf(
  discovered({ functions: [functionTool('total'), functionTool('plot')], scripts: [scriptTool('report')] }),
);
const made = makeToolsFile(look, WRAPPING);

const edited = (change: (file: ToolsFile) => void): ToolsFile => {
  const file = structuredClone(made);
  change(file);
  return readToolsFile(toolsFileText(file), 'tools.json');
};
const toolOf = (file: ToolsFile, origin: string) =>
  file.tools.find((tool) => (tool.kind === 'function' ? tool.function : 'script') === origin)!;

describe('a tools file', () => {
  test('that is made can be read', () => {
    expect(readToolsFile(toolsFileText(made), 'tools.json')).toEqual(made);
  });

  test('remembers the functions that were chosen', () => {
    const chosen = makeToolsFile(look, { ...WRAPPING, functions: ['plot'] });
    expect(chosen.functions).toEqual(['plot']);
    const more = lookOf(discovered({ functions: [functionTool('plot'), functionTool('erase_everything')] }));
    expect(updateToolsFile(chosen, more).tools.map(({ name }) => name)).toEqual(['plot']);
  });

  test('remarks upon a chosen function that is gone, and goes on', () => {
    const chosen = makeToolsFile(look, { ...WRAPPING, functions: ['plot', 'total'] });
    const less = updateToolsFile(chosen, lookOf(discovered({ functions: [functionTool('plot')] })));
    expect(less.tools.map(({ name }) => name)).toEqual(['plot']);
    expect(less.remarks).toEqual([
      expect.objectContaining({
        name: 'total',
        isSkipped: true,
        reason: expect.stringContaining('no such function'),
      }),
    ]);
  });
});

describe('a new look at the script keeps', () => {
  const fresh = lookOf(
    discovered({
      description: 'Reports of a year.',
      functions: [
        functionTool('total', {
          description: 'Adds up.',
          inputSchema: texts({ path: 'the table', unit: 'of money' }),
        }),
        functionTool('plot'),
      ],
      scripts: [scriptTool('report')],
    }),
    { sha256: 'def' },
  );

  test('nothing where nobody has changed anything', () => {
    expect(updateToolsFile(made, fresh)).toEqual(makeToolsFile(fresh, WRAPPING));
  });

  test('names, titles, what is hidden, annotations, environment and profile', () => {
    const file = edited((one) => {
      Object.assign(toolOf(one, 'total'), {
        name: 'sum_up',
        title: 'Sum up',
        annotations: { readOnlyHint: true },
      });
      Object.assign(toolOf(one, 'script'), { hidden: true });
      Object.assign(one, { name: 'reports', environment: 'ml', profile: 'diego' });
    });
    const again = updateToolsFile(file, fresh);
    expect(again).toMatchObject({ name: 'reports', environment: 'ml', profile: 'diego', sha256: 'def' });
    expect(toolOf(again, 'total')).toMatchObject({
      name: 'sum_up',
      title: 'Sum up',
      annotations: { readOnlyHint: true },
      description: 'Adds up.',
    });
    expect(toolOf(again, 'script')).toMatchObject({ hidden: true });
    expect(toolOf(again, 'plot')).not.toHaveProperty('hidden');
  });

  test('a description that a person wrote, also when the script has another by now', () => {
    const file = edited((one) => {
      toolOf(one, 'total').description = 'The sum of all.';
      one.description = 'My reports.';
    });
    const again = updateToolsFile(file, fresh);
    expect(again.description).toBe('My reports.');
    expect(toolOf(again, 'total')).toMatchObject({
      description: 'The sum of all.',
      source: { description: 'Adds up.' },
    });
    expect(updateToolsFile(again, fresh)).toEqual(again);
  });

  test('descriptions of parameters, and that one was taken away', () => {
    const properties = (file: ToolsFile, origin: string) =>
      toolOf(file, origin).inputSchema['properties'] as Record<string, { description?: string }>;
    const file = edited((one) => {
      properties(one, 'total')['path']!.description = 'the CSV file';
      delete properties(one, 'plot')['path']!.description;
    });
    const again = updateToolsFile(file, fresh);
    expect(properties(again, 'total')).toEqual({
      path: { type: 'string', description: 'the CSV file' },
      unit: { type: 'string', description: 'of money' },
    });
    expect(properties(again, 'plot')).toEqual({ path: { type: 'string' } });
  });

  test('names that clients know: a new function of such a name gets another', () => {
    const file = edited((one) => {
      toolOf(one, 'total').name = 'mean';
    });
    const more = lookOf(discovered({ functions: [functionTool('mean'), functionTool('total')] }));
    const named = updateToolsFile(file, more).tools.map(({ name, line: _, ...tool }) => [
      name,
      tool.kind === 'function' && tool.function,
    ]);
    expect(named).toEqual([
      ['mean_new', 'mean'],
      ['mean', 'total'],
    ]);
  });

  test('its $schema', () => {
    const file = { $schema: './tools.schema.json', ...made };
    expect(updateToolsFile(file, fresh).$schema).toBe('./tools.schema.json');
  });
});

describe('what is wrong with a tools file is said, all of it and where', () => {
  const issuesOf = (text: string): string[] => {
    try {
      readToolsFile(text, 'tools.json');
    } catch (error) {
      expect(error).toBeInstanceOf(PungiError);
      const { code, message, details } = error as PungiError;
      expect(code).toBe('INVALID_INPUT');
      expect(message).toMatch(/^tools\.json cannot be used: .+\.$/);
      return details['issues'] as string[];
    }
    throw new Error('nothing is wrong with it');
  };
  interface Json extends Record<string, unknown> {
    tools: Record<string, unknown>[];
  }
  const withChange = (change: (json: Json) => void): string => {
    const json = JSON.parse(toolsFileText(made));
    change(json);
    return JSON.stringify(json);
  };

  test('where it is no JSON', () => {
    expect(issuesOf('{"version": 1,')).toEqual([expect.stringMatching(/^it is not JSON: /)]);
  });

  test('where a newer Pungi wrote it', () => {
    expect(issuesOf('{"version": 2}')).toEqual([expect.stringContaining('newer Pungi')]);
  });

  test('where fields are missing, wrong or unknown', () => {
    const text = withChange((json) => {
      delete json['script'];
      json['mode'] = 'all';
      json.tools[0]!['name'] = 'no spaces';
      json.tools[1]!['hiden'] = true;
      json.tools[2]!['kind'] = 'program';
    });
    const issues = issuesOf(text).sort();
    expect(issues).toEqual([
      expect.stringMatching(/^mode: must be one of auto, function, script, both$/),
      expect.stringMatching(/^script: is missing; it must be a text$/),
      expect.stringMatching(/^tools\.0\.name: must be 1 to 128/),
      expect.stringMatching(/^tools\.1\.hiden: is not known$/),
      expect.stringMatching(/^tools\.2\.kind: must be one of function, script$/),
    ]);
  });

  test('where it is a list', () => {
    expect(issuesOf('[]')).toEqual([expect.stringContaining('must be an object')]);
  });

  test('where two tools have one name, or a rule is for no parameter', () => {
    const text = withChange((json) => {
      json.tools[1]!['name'] = 'total';
      json.tools[2]!['argv'] = [{ parameter: 'moon', flag: null, takes: 'one' }];
      json.tools[2]!['stdin'] = 'text';
    });
    expect(issuesOf(text)).toEqual([
      'tools.1.name: "total" is the name of tools.0 already',
      'tools.2.argv.0.parameter: "moon" is no parameter of the inputSchema',
      'tools.2.stdin: "text" is no parameter of the inputSchema',
    ]);
  });
});
