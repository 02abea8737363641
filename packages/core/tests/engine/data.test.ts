import { once } from 'node:events';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicInterpreter, temporaryFolder } from '../../../../tests/support/places.js';
import { stateBelow } from '../../../../tests/support/state-below.js';
import { until } from '../../../../tests/support/until.js';
import type { Tier } from '../../src/contract/outcome.js';
import type { Engine } from '../../src/engine/engine.js';
import { poolSpecOf, poolsOf, type Ran, runIn, startEngine, withEngine } from './engine.js';
import { expectOk, verdictOf } from './outcomes.js';

const python = (await publicInterpreter()) || undefined;
const IS_ROOT = process.getuid?.() === 0;
const ground = temporaryFolder();
chmodSync(ground, 0o755);

/** A folder of the host, with a file and a folder in it. */
function makeFolder(name: string): string {
  const folder = join(ground, name);
  mkdirSync(join(folder, 'inner'), { recursive: true });
  writeFileSync(join(folder, 'rows.csv'), 'a,b\n1,2\n');
  writeFileSync(join(folder, 'inner/deep.txt'), 'deep');
  return folder;
}

const sales = makeFolder('sales');
const secret = join(ground, 'secret.txt');
writeFileSync(secret, 'SECRET');
const withData = (...data: { name: string; path: string }[]) => ({ poolSpec: poolSpecOf({ data }) });
const SALES = withData({ name: 'sales', path: sales });

/** What the code printed, which must have ended well. */
async function printed(ran: Promise<Ran>): Promise<string> {
  const outcome = await ran;
  expectOk(outcome);
  return outcome.stdout.text.trim();
}

describe.each<Tier>(['namespace', 'landlock'])('data folders in the %s tier', (tier) => {
  let engine: Engine;
  beforeAll(() => {
    engine = startEngine({ tier, python });
  });
  afterAll(() => engine.close());

  test('are found below data in the work folder, in every run', async () => {
    const code =
      'import os\nprint(os.listdir("data"), sorted(os.listdir("data/sales")), open("data/sales/inner/deep.txt").read())';
    for (const _ of [1, 2, 3]) {
      expect(await printed(runIn(engine, code, SALES))).toBe("['sales'] ['inner', 'rows.csv'] deep");
    }
    expect(await printed(runIn(engine, 'import os\nprint(os.listdir("."))'))).toBe("['main.py']");
  });

  test('several, beside files that the request brings', async () => {
    const both = withData({ name: 'sales', path: sales }, { name: 'more', path: makeFolder('other') });
    const files = [{ path: 'data/own.csv', base64: Buffer.from('own').toString('base64') }];
    const code =
      'import os\nprint(sorted(os.listdir("data")), open("data/own.csv").read(), open("data/more/rows.csv").read())';
    expect(await printed(runIn(engine, code, { ...both, files }))).toBe(
      "['more', 'own.csv', 'sales'] own a,b\n1,2",
    );
  });

  test('cannot be changed, whatever a run tries', async () => {
    const before = stateBelow(sales);
    const code = `
import os, shutil
tries = [
    lambda: open("data/sales/rows.csv", "a"),
    lambda: open("data/sales/new.csv", "w"),
    lambda: os.remove("data/sales/rows.csv"),
    lambda: os.rename("data/sales/rows.csv", "data/sales/x.csv"),
    lambda: os.rename("data/sales/rows.csv", "rows.csv"),
    lambda: os.mkdir("data/sales/new"),
    lambda: os.truncate("data/sales/rows.csv", 0),
    lambda: os.symlink("/", "data/sales/link"),
    lambda: os.link("data/sales/rows.csv", "data/sales/hard"),
    lambda: os.mkfifo("data/sales/pipe"),
]
quiet = [
    lambda: os.chmod("data/sales/rows.csv", 0o777),
    lambda: os.utime("data/sales/rows.csv"),
    lambda: os.setxattr("data/sales/rows.csv", "user.x", b"x"),
]
for each in quiet:
    try:
        each()  # the filter of the landlock tier says yes and does nothing
    except OSError:
        pass
for number, each in enumerate(tries):
    try:
        each()
        print("done", number)
    except OSError as error:
        pass
shutil.rmtree("data", ignore_errors=True)
shutil.rmtree(os.path.realpath("data/sales"), ignore_errors=True)
print("tried")`;
    expect(await printed(runIn(engine, code, SALES))).toBe('tried');
    expect(stateBelow(sales)).toEqual(before);
    expect(await printed(runIn(engine, 'print(open("data/sales/rows.csv").read())', SALES))).toBe('a,b\n1,2');
  });

  test('are the only thing of the host that is seen: links in them and ways above them lead nowhere', async () => {
    const tricky = makeFolder(`${tier}/tricky`);
    symlinkSync(secret, join(tricky, 'absolute'));
    symlinkSync('../../secret.txt', join(tricky, 'relative'));
    symlinkSync('../../../..', join(tricky, 'above'));
    const code = `
import os
for path in ("absolute", "relative", "above/secret.txt", "../../secret.txt", "../tricky/../../secret.txt", "above/sales/rows.csv"):
    for start in ("data/tricky/", os.path.realpath("data/tricky") + "/"):
        try:
            print("read", path, open(start + path).read())
        except OSError:
            pass
try:
    print("seen", [name for name in os.listdir(os.path.realpath("data/tricky") + "/..") if name != "tricky"])
except OSError:
    print("seen []")`;
    expect(await printed(runIn(engine, code, withData({ name: 'tricky', path: tricky })))).toBe('seen []');
  });

  test('nothing in them can be started', async () => {
    const tools = makeFolder('tools');
    writeFileSync(join(tools, 'tool'), '#!/bin/sh\necho started\n', { mode: 0o755 });
    const code =
      'import subprocess\ntry: subprocess.run(["data/tools/tool"])\nexcept PermissionError: print("refused")';
    expect(await printed(runIn(engine, code, withData({ name: 'tools', path: tools })))).toBe('refused');
  });

  test('a path that is a link is what it leads to', async () => {
    const link = join(ground, `link-${tier}`);
    symlinkSync(sales, link);
    const data = withData({ name: 'linked', path: link });
    expect(await printed(runIn(engine, 'print(open("data/linked/rows.csv").read())', data))).toBe('a,b\n1,2');
  });

  test('each profile sees its own', async () => {
    const other = withData({ name: 'other', path: makeFolder('other') });
    const code = 'import os\nprint(os.listdir("data"))';
    expect(await printed(runIn(engine, code, SALES))).toBe("['sales']");
    expect(await printed(runIn(engine, code, other))).toBe("['other']");
  });

  test.each([
    ['is missing', join(ground, 'absent'), /"x" \(.*absent\) cannot be shown to runs: it does not exist\.$/],
    ['is a file', secret, /it is not a folder\.$/],
    ['is the whole machine', '/', /it is the whole machine\.$/],
    ['is relative', 'sales', /its path is not absolute\.$/],
    ['belongs to the kernel', '/proc/self', /it belongs to the kernel\.$/],
    ['belongs to the kernel, too', '/sys', /it belongs to the kernel\.$/],
    ['is devices', '/dev/', /it belongs to the kernel\.$/],
  ])('one that %s is refused with a sentence', async (_, path, sentence) => {
    const outcome = await runIn(engine, 'print("ran")', withData({ name: 'x', path }));
    expect(verdictOf(outcome, 'denied').message).toMatch(sentence);
    expect(outcome.stdout.text).toBe('');
  });

  test('a link to what may not be shown is refused like it', async () => {
    for (const [index, target] of ['/', '/proc', secret].entries()) {
      const link = join(ground, `bad-${tier}-${index}`);
      symlinkSync(target, link);
      verdictOf(await runIn(engine, 'print("ran")', withData({ name: 'x', path: link })), 'denied');
    }
  });

  test.runIf(IS_ROOT)('one that the user of the sandbox cannot read is refused with a sentence', async () => {
    const closed = makeFolder(`closed-${tier}`);
    chmodSync(closed, 0o700);
    const outcome = await runIn(engine, 'print("ran")', withData({ name: 'closed', path: closed }));
    expect(verdictOf(outcome, 'internal').message).toMatch(
      /the sandbox's user \(uid \d+\) cannot read the data folder "closed" \(.*\); give every user the right/,
    );
    chmodSync(closed, 0o755);
    expectOk(await runIn(engine, 'print(1)', withData({ name: 'closed', path: closed })));
  });

  test('nobody of the host can be talked to through one', async () => {
    const folder = makeFolder(`talking-${tier}`);
    const socket = join(folder, 'inner/socket');
    let callers = 0;
    const server = createServer((caller) => {
      callers += 1;
      caller.destroy();
    }).listen(socket);
    await once(server, 'listening');
    chmodSync(socket, 0o777);
    const code = 'import socket\nsocket.socket(socket.AF_UNIX).connect("data/talking/inner/socket")';
    const { verdict } = await runIn(engine, code, withData({ name: 'talking', path: folder }));
    server.close();
    if (tier === 'landlock') expect(verdict).toMatchObject({ exception: { type: 'PermissionError' } });
    else expect(verdict).toMatchObject({ message: expect.stringContaining('holds a socket (inner/socket)') });
    expect(callers).toBe(0);
  });

  test('nobody who begins to listen in one later on can be talked to', async () => {
    const folder = makeFolder(`late-${tier}`);
    const data = withData({ name: 'late', path: folder });
    expectOk(await runIn(engine, 'print(1)', data));
    let callers = 0;
    const server = createServer((caller) => {
      callers += 1;
      caller.destroy();
    }).listen(join(folder, 'socket'));
    await once(server, 'listening');
    chmodSync(join(folder, 'socket'), 0o777);
    for (const kind of ['SOCK_STREAM', 'SOCK_DGRAM']) {
      const code = `import socket\nsocket.socket(socket.AF_UNIX, socket.${kind}).connect("data/late/socket")`;
      const { verdict } = await runIn(engine, code, data);
      expect(verdict).toMatchObject({ exception: { type: 'PermissionError' } });
    }
    server.close();
    expect(callers).toBe(0);
  });

  test('runs that see one still have pairs of sockets, event loops, pools of processes and databases', async () => {
    const code = `
import asyncio, multiprocessing, socket, sqlite3
if __name__ == "__main__":
    one, other = socket.socketpair()
    one.send(b"hello")
    async def main(): return await asyncio.sleep(0, "slept")
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=lambda: there.send("child"))
    child.start()
    database = sqlite3.connect("own.db")
    database.execute("create table t (x)")
    database.execute("insert into t values (1)")
    database.commit()
    print(other.recv(5), asyncio.run(main()), here.recv(), database.execute("select * from t").fetchall())
    child.join()`;
    expect(await printed(runIn(engine, code, SALES))).toBe("b'hello' slept child [(1,)]");
  });

  test('no file in them can be locked against the host', async () => {
    const code = `
import fcntl
for way in (lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
            lambda file: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
            lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)):
    try:
        with open("data/sales/rows.csv") as file:
            way(file)
        print("locked")
    except OSError as error:
        print(error.errno)`;
    const [flock, lockf, lease] = (await printed(runIn(engine, code, SALES))).split('\n').map(Number);
    expect({ flock, lockf, lease }).toEqual({
      flock: constants.errno.ENOSYS,
      lockf: constants.errno.EBADF,
      lease: constants.errno.EPERM,
    });
  });

  test('the folder of other runs is never one', async () => {
    const outcome = await runIn(
      engine,
      'import os\nprint(os.listdir("data/x"))',
      withData({ name: 'x', path: '/tmp' }),
    );
    expect(verdictOf(outcome, 'denied').message).toContain('the work folders of other runs are in it');
  });
});

test('a folder that has become a link since it was resolved is not followed', async () => {
  await withEngine({ tier: 'namespace', python }, async (engine) => {
    const folder = makeFolder('swapped');
    const data = withData({ name: 'swapped', path: folder });
    const ref = makeFolder('elsewhere');
    expectOk(await runIn(engine, 'print(1)', data));
    renameSync(folder, `${folder}-before`);
    symlinkSync(ref, folder);
    // Its fork server goes, as for idleness; the next one meets the link.
    await until(() => poolsOf(engine).all.every(({ parking }) => parking === 0), 'no worker is on its way');
    await Promise.all(poolsOf(engine).all.map((pool) => pool.rest()));
    const outcome = await runIn(engine, 'import os\nprint(os.listdir("data/swapped"))', data);
    expect(verdictOf(outcome, 'internal').message).toMatch(
      /"swapped" \(.*\) (cannot be opened|has become a link)/,
    );
    // The pool was given up: what is there now is looked at anew.
    rmSync(folder);
    renameSync(`${folder}-before`, folder);
    expectOk(await runIn(engine, 'print(open("data/swapped/rows.csv").read())', data));
  });
});
