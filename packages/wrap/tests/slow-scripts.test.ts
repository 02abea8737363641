import { describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { PungiError } from '../../core/src/base/errors.js';
import type { DiscoverRequest, Discovery } from '../../core/src/contract/wrap.js';
import type { Engine } from '../../core/src/engine/engine.js';
import { Gate } from '../../core/src/gate/gate.js';
import { discover as discoverTools } from '../../core/src/pungi/discovery.js';
import type { Job } from '../../core/src/runtime/job.js';
import { wrappedInfo } from '../../server/src/wrapped/list-wrapped.js';
import type { PythonSide } from '../src/discover/discover-script.js';
import { keptDiscovery } from '../src/tools-folder/kept-discovery.js';
import { discovered } from './tools.js';
import { toolsFolders } from './tools-folder.js';

const { pungi, offered } = toolsFolders();

describe('too many functions', () => {
  const functions = (count: number) =>
    Array.from({ length: count }, (_, index) => `def f${index}(): pass\n`).join('');

  test('a script of 900 functions offers some, and all others theirs', async () => {
    const { wrapped, logger } = await offered({
      'a.py': functions(900),
      'z.py': 'def last(): pass\n',
    });
    expect(wrapped.tools.size).toBe(201);
    expect(wrapped.tools.has('last')).toBe(true);
    const { remarks } = wrappedInfo(wrapped.scripts[0]!, wrapped);
    expect(remarks).toHaveLength(21);
    expect(remarks[0]).toMatchObject({
      name: 'f200',
      line: 201,
      reason: expect.stringMatching(/200 tools at most/),
    });
    expect(remarks[20]!.reason).toMatch(/^and 680 more/);
    expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(21);
  });

  test('more tools than one message can hold', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 6 }, (_, index) => [`m${index}.py`, functions(200)]),
    );
    const { wrapped } = await offered(many);
    expect(wrapped.tools.size).toBe(1000);
    expect(wrapped.problem).toMatch(/200 are not offered/);
  });
});

describe('a script that takes forever to be read', () => {
  const sideOf = (discover: PythonSide['discover']): PythonSide => ({
    discover,
    inspect: () => Promise.resolve({ discovery: null, problem: null }),
    probe: () => Promise.reject(new Error('nobody asks')),
    profiles: { get: () => ({ name: '', environment: null, packages: [] }) },
    environments: { defaultName: 'default', metadata: () => Promise.resolve(undefined) },
  });

  test('keeps nobody waiting, and is in use once it has been read', async () => {
    const release: (() => void)[] = [];
    const discover = async (request: DiscoverRequest) => {
      if (request.filename === 'a_slow.py') await new Promise<void>((resolve) => release.push(resolve));
      return pungi.discover(request);
    };
    const [probe, inspect] = [pungi.probe.bind(pungi), pungi.inspect.bind(pungi)];
    const side = { ...sideOf(discover), probe, inspect };
    const scripts = ['a_slow', 'b_slow', 'quick'].map((name) => [`${name}.py`, `def ${name}(): pass\n`]);
    const { wrapped } = await offered(Object.fromEntries(scripts), { side, patienceMs: 50 });
    await until(() => wrapped.tools.has('quick') && wrapped.tools.has('b_slow'), 'the others are offered');
    expect(wrapped.scripts.find(({ name }) => name === 'a_slow')).toMatchObject({
      inUse: null,
      problem: '"a_slow.py" is still being read.',
    });
    await wrapped.look();
    expect(release).toHaveLength(1);
    release[0]!();
    await until(() => wrapped.tools.has('a_slow'), 'the slow one is offered');
    expect(wrapped.scripts.map(({ problem }) => problem)).toEqual([null, null, null]);
  });

  test('is tried again after longer and longer, another text at once', async () => {
    let now = 0;
    const asked: [string, number][] = [];
    const { discover } = keptDiscovery(
      sideOf(({ code }) => {
        asked.push([code, now]);
        return Promise.reject(new PungiError('INTERNAL_ERROR', 'It took too long.'));
      }),
      () => now,
    );
    const ask = async (code: string, at: number) => {
      now = at;
      await expect(discover({ code, filename: 'a.py' })).rejects.toThrow('too long');
    };
    for (const at of [0, 1, 4999, 5000, 14_999, 15_000, 34_999, 35_000]) await ask('one', at);
    await ask('two', 35_001);
    expect(asked).toEqual([
      ['one', 0],
      ['one', 5000],
      ['one', 15_000],
      ['one', 35_000],
      ['two', 35_001],
    ]);
  });

  test('what was found is kept, as much as there is room for', async () => {
    const asked: string[] = [];
    const large: Discovery = discovered({ description: 'x'.repeat(30 * 1024 * 1024) });
    const { discover } = keptDiscovery(
      sideOf(({ filename }) => {
        asked.push(filename);
        return Promise.resolve(large);
      }),
    );
    for (const filename of ['a', 'b', 'b', 'c', 'c', 'b', 'a']) await discover({ code: '', filename });
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });

  test('is read for a few seconds at most', async () => {
    const { config, profiles, environments } = pungi;
    const jobs: Job[] = [];
    const parts = {
      gate: new Gate(config, profiles),
      environments,
      engine: {
        discover: (job: Job) => {
          jobs.push(job);
          return Promise.resolve(discovered());
        },
      } as unknown as Engine,
    };
    await discoverTools({ code: '', filename: 'a.py' }, parts, {});
    expect(config.maxCpuMs).toBeGreaterThan(10_000);
    expect(jobs.map(({ limits }) => limits.cpuMs)).toEqual([10_000]);
  });
});
