import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { needsLinux } from '../../src/engine/sandbox-unavailable.js';
import { SpawnBackend } from '../../src/engine/spawn/backend.js';
import { openWorld } from '../environments/world.js';
import { poolSpecOf, rulesOf, runIn, sharedEngine } from './engine.js';
import {
  expectOk,
  printed,
  publicInterpreter,
  sharedPungi,
  temporaryFolder,
  verdictOf,
  withPungi,
} from './pungi.js';

const settings = {
  PUNGI_TIER: 'spawn',
  ALLOW_UNSANDBOXED: 'true',
  PUNGI_PYTHON: await publicInterpreter(),
  ALLOWED_ENV: 'NAME',
};
const pungi = sharedPungi(settings);

describe('the spawn tier', () => {
  test.each([
    ['linux', false],
    ['darwin', true],
    ['win32', true],
  ] as const)('is what auto means on %s: %s', (platform, isChosen) => {
    expect(SpawnBackend.serves('auto', platform)).toBe(isChosen);
    expect(SpawnBackend.serves('spawn', platform)).toBe(true);
    expect(SpawnBackend.serves('process', platform)).toBe(false);
  });

  test('is not taken silently where there is no sandbox: the sentence names the ways out', () => {
    expect(needsLinux({ tier: 'auto' }).message).toMatch(/needs Linux.*WSL 2.*ALLOW_UNSANDBOXED=true/);
  });

  test('runs a script with its input, arguments, variables and files', async () => {
    const code = py`
      import os, sys
      print(sys.argv, sys.stdin.read(), os.environ["NAME"], open("in/a.txt").read(), __file__ == os.path.abspath("main.py"))
    `;
    const files = [{ path: 'in/a.txt', text: 'text' }];
    const asked = { code, argv: ['x'], env: { NAME: 'value' }, files };
    expect(await printed(pungi, { ...asked, stdin: 'in' })).toBe("['main.py', 'x'] in value text True\n");
    const long = 'y'.repeat(100_000);
    expect(await printed(pungi, { ...asked, stdin: long })).toContain(long);
  });

  test('shows what a script displays, in order', async () => {
    const code = 'for i in range(5):\n    print(i)\n    display({"text/html": str(i)}, raw=True)';
    const outcome = await pungi.run({ code });
    expectOk(outcome);
    expect(outcome.displays?.map(({ data }) => data['text/html'])).toEqual(['0', '1', '2', '3', '4']);
  });

  test('begins a script as plain Python does', async () => {
    const code = py`
      import sys
      print([name for name in sys.modules if name.partition(".")[0] in ("pungi", "standalone")], sys.flags.isolated, sys.flags.no_site)
      print(open("/dev/null").fileno(), sys.stdin.read() == "", exit.__class__.__name__)
      def depth():
          frame, count = sys._getframe(), 0
          while frame := frame.f_back: count += 1
          return count
      print(depth())
    `;
    expect(await printed(pungi, { code })).toBe("['pungi.harness'] 0 0\n3 True Quitter\n1\n");
  });

  // The worker has a moment for its last words, which is too short on a machine that is busy enough.
  test('sends lines while the run goes on, and what is left of one that is cancelled', {
    retry: 2,
  }, async () => {
    const cancel = new AbortController();
    const lines: string[] = [];
    const code = py`
      import sys, threading
      print("no newline", end="")
      print("ready", file=sys.stderr)
      threading.Event().wait()
    `;
    const run = pungi.run({ code }, { signal: cancel.signal, onLine: ({ text }) => lines.push(text) });
    await until(() => lines.length === 1, 'the line has come');
    cancel.abort();
    const outcome = await run;
    verdictOf(outcome, 'cancelled');
    expect(outcome.stdout.text).toBe('no newline');
  });

  test('calls a function of a script', async () => {
    const code = 'def double(number: int):\n    print("called")\n    return number * 2';
    const outcome = await pungi.run({
      code,
      filename: 'report.py',
      call: { function: 'double', arguments: { number: '4' } },
    });
    expectOk(outcome);
    expect([outcome.value?.json, outcome.stdout.text]).toEqual([8, 'called\n']);
  });

  test('is not outlived by a process that left its session and its parent', async () => {
    const code = py`
      import os, time
      read, write = os.pipe()
      if os.fork() == 0:
          os.setsid()
          if os.fork() == 0:
              os.write(write, str(os.getpid()).encode())
              time.sleep(10000)
          os._exit(0)
      os.wait()
      print(os.read(read, 99).decode())
    `;
    const pid = (await printed(pungi, { code })).trim();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test('believes no report that a script forges', async () => {
    const code = py`
      import os
      for fd in range(3, 2000):
          try: os.write(fd, b"\xff\xff\xff\xff" * 100)
          except OSError: pass
      raise ValueError("mine")
    `;
    expect(verdictOf(await pungi.run({ code }), 'exited').status).toBe(1);
  });
});

describe('an engine of the spawn tier', () => {
  const engine = sharedEngine({ tier: 'spawn', allowUnsandboxed: true, python: settings.PUNGI_PYTHON });

  test('keeps code in the scope of its profile, before it runs and while it does', async () => {
    const rules = rulesOf({ blockedImports: ['socket'] });
    const before = await runIn(engine, 'print("ran")\nimport socket', { rules });
    expect(verdictOf(before, 'denied').violations?.[0]).toMatchObject({ line: 2, what: 'socket' });
    expect(before.stdout.text).toBe('');
    const code = 'name = "soc" + "ket"\n__import__(name)\nprint("on")';
    const during = await runIn(engine, code, { rules });
    verdictOf(during, 'denied');
    expect(during.stdout.text).toBe('');
  });

  test('shows data folders, and refuses a network that it cannot bound', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'rows.csv'), 'a,b');
    const data = poolSpecOf({ data: [{ name: 'sales', path: folder }] });
    const shown = await runIn(engine, 'print(open("data/sales/rows.csv").read())', { poolSpec: data });
    expect(shown.stdout.text).toBe('a,b\n');
    const hosts = poolSpecOf({ allowedHosts: ['example.org'] });
    const refused = await runIn(engine, 'print(1)', { poolSpec: hosts });
    expect(verdictOf(refused, 'denied').reason).toContain('needs the namespace tier');
  });
});

test('an interpreter that ends before it is ready is named, with its last words', async () => {
  const folder = join(temporaryFolder(), 'venv');
  chmodSync(join(folder, '..'), 0o755);
  execFileSync(settings.PUNGI_PYTHON, ['-m', 'venv', '--without-pip', folder]);
  const [lib] = readdirSync(join(folder, 'lib'));
  const code = 'import os; os.write(2, b"no luck"); os._exit(3)\n';
  writeFileSync(join(folder, 'lib', lib!, 'site-packages', 'bad.pth'), code);
  const own = { ...settings, PUNGI_PYTHON: join(folder, 'bin', 'python'), SYSTEM_PACKAGES: 'true' };
  await withPungi(own, async (failing) => {
    const { message } = verdictOf(await failing.run({ code: 'print(1)' }), 'unavailable');
    expect(message).toMatch(/venv\/bin\/python ended with status 3 before it was ready: no luck/);
  });
});

test('a run keeps the generation of its environment until it has ended', async () => {
  const world = await openWorld();
  chmodSync(world.base, 0o755);
  const server = world.start(settings);
  await server.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  const code = 'print("begun")\nimport sys\nsys.stdin.read()\nimport time\nwhile True: time.sleep(1)';
  const cancel = new AbortController();
  let hasBegun = false;
  const run = server.run(
    { code, venvName: 'ml' },
    { signal: cancel.signal, onLine: () => (hasBegun = true) },
  );
  await until(() => hasBegun, 'the run has begun');
  await server.environments.install('ml', ['apple==2.0']);
  const generations = () => readdirSync(join(world.base, 'ml')).filter((name) => /^g\w+$/.test(name));
  expect(generations()).toHaveLength(2);
  const apple = 'import apple; print(apple.__version__)';
  expect(await printed(server, { code: apple, venvName: 'ml' })).toBe('2.0\n');
  cancel.abort();
  verdictOf(await run, 'cancelled');
  await until(() => generations().length === 1, 'the former generation is gone');
});
