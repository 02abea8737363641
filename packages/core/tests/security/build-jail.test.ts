import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type ListenOptions } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  PACKAGES,
  type PackageIndex,
  startPackageIndex,
  type TestPackage,
} from '../../../../tests/support/package-index.js';
import { ensureUv } from '../../../../tests/support/uv.js';
import { SANDBOX_UID } from '../../src/sandbox/sandbox-uid.js';
import { fixture } from './attack.js';
import type { Installed } from './build-jail-runner.js';
import { buildJailStage, homeOf, runInstallations } from './build-jail-stage.js';
import { identityOf, REPOSITORY, USERS } from './stage.js';

const PASSWORD = `pw${randomBytes(8).toString('hex')}`;
const ABSTRACT_NAME = `pungi-build-${randomBytes(4).toString('hex')}`;
/** Where the machine answers from beside its loopback, if it has such an address. */
const ADDRESSES = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);
const HOSTS = ['127.0.0.1', '::1', 'localhost', ...ADDRESSES];

const sourceBackend = readFileSync(
  join(REPOSITORY, 'packages/core/tests/environments/fixtures/source_backend.py'),
  'utf8',
);
const hostile = (name: string, backend: string, targets: object = {}): TestPackage => ({
  name,
  version: '1.0',
  sdist: true,
  backend: {
    'backend.py': fixture(backend),
    'source_backend.py': sourceBackend,
    'targets.json': JSON.stringify(targets),
  },
});

describe.skipIf(process.platform !== 'linux')('builds of source distributions', () => {
  const calls: string[] = [];
  const closers: (() => void)[] = [];
  let stage: Awaited<ReturnType<typeof buildJailStage>>;
  let tcpPort: number;

  const listen = (where: ListenOptions) =>
    new Promise<number>((resolve) => {
      const server = createServer((socket) => {
        calls.push(JSON.stringify(where));
        socket.destroy();
      }).listen(where, () => resolve((server.address() as { port?: number }).port ?? 0));
      closers.push(() => server.close());
    });

  beforeAll(async () => {
    stage = await buildJailStage(await ensureUv());
    tcpPort = await listen({ port: 0, host: '::', ipv6Only: false });
    await listen({ path: `\0${ABSTRACT_NAME}` });
  });
  afterAll(() => {
    for (const close of closers) close();
    stage?.remove();
  });

  describe.each(USERS)('with a server started by %s', (user) => {
    let folder: string;
    let index: PackageIndex;
    let done: Awaited<ReturnType<typeof runInstallations>>;
    let environment: string;
    // biome-ignore lint/suspicious/noExplicitAny: what foreign code wrote is looked at, not relied upon.
    let report: any;

    const installed = (name: string): Installed => {
      const found = done.installed.get(name);
      if (!found) throw new Error(`the runner ended before ${name}`);
      return found;
    };

    beforeAll(async () => {
      folder = homeOf(stage, user);
      environment = `${folder}/environments/hostile`;
      await listen({ path: `${folder}/host.sock`, readableAll: true, writableAll: true });
      const targets = {
        environment,
        tcpPort,
        hosts: HOSTS,
        unixPath: `${folder}/host.sock`,
        abstractName: ABSTRACT_NAME,
        proxyPort: 3128,
        secrets: [`${folder}/home/secret`, `${folder}/outside/file`, '/etc/shadow', '/proc/1/environ'],
        folders: [folder, `${folder}/home`, `${folder}/tmp`, '/root', '/home', '/run', '/sys', '/var'],
        places: [`${folder}/outside/file`, `${folder}/cache/poison`, '/usr/poison', '/etc/passwd', '/bin/sh'],
        outsideFile: `${folder}/outside/file`,
        outsideFolder: `${folder}/outside`,
      };
      index = await startPackageIndex([
        ...PACKAGES,
        hostile('hostile', 'hostile_backend.py', targets),
        hostile('signalling', 'signalling_backend.py'),
        hostile('staying', 'staying_backend.py'),
      ]);
      const names = ['onlysource', 'hostile', 'signalling'].map((name) => ({ name }));
      done = await runInstallations(stage, user, {
        python: stage.python,
        uv: stage.uv,
        folder,
        index: index.url.replace('//', `//reader:${PASSWORD}@`),
        packages: [...names, { name: 'staying', isStaying: true }],
      });
      const [library] = readdirSync(`${environment}/lib`).filter((name) => name.startsWith('python'));
      const path = `${environment}/lib/${library}/site-packages/report.json`;
      if (!existsSync(path)) throw new Error(`no report: ${JSON.stringify(done.installed.get('hostile'))}`);
      report = JSON.parse(readFileSync(path, 'utf8'));
    }, 120_000);
    afterAll(() => index?.stop());

    test('an honest package is built, and can be imported', () => {
      expect(installed('onlysource')).toMatchObject({ status: 0, error: null });
      const ask = ['-c', 'import onlysource; print(onlysource.__version__)'];
      const python = `${folder}/environments/onlysource/bin/python`;
      expect(execFileSync(python, ask, { encoding: 'utf8', ...identityOf(user) })).toBe('1.0\n');
    });

    test('programs of the system work', () => {
      expect(report.shell).toBe('works\n');
    });

    test('files of the host cannot be read, listed, written or changed', () => {
      const refused = (count: number) => Array.from({ length: count }, () => 'refused');
      expect(report.read.slice(0, 3)).toEqual(refused(3));
      const [own, ...others] = report.list;
      expect(new Set(own)).toEqual(new Set(['environments', 'scratch-hostile']));
      expect(others).toEqual(refused(7));
      expect(report.write).toEqual(refused(5));
      expect(report.chmod).toEqual(refused(5));
      expect(readFileSync(`${folder}/outside/file`, 'utf8')).toBe('untouched\n');
      expect(readdirSync(`${folder}/cache`)).toEqual([]);
    });

    test('nothing of the host answers', () => {
      expect(report.connect).toEqual(HOSTS.map(() => 'refused'));
      expect(report.unix).toEqual(['refused', 'refused']);
      expect(calls).toEqual([]);
    });

    test('the index answers for its own pages and for nothing else', () => {
      const { 'a page': page, 'a tunnel': tunnel, 'an upload': upload, ...others } = report.proxy;
      expect([page, upload]).toEqual([200, 405]);
      expect([404, 405, 'refused']).toContain(tunnel);
      expect(new Set(Object.values(others))).toEqual(new Set([404]));
      expect(index.requests.filter((path) => path.includes('bait'))).toEqual([]);
    });

    test('it has no privileges, and gains none', () => {
      const uid = user === 'root' ? SANDBOX_UID : (identityOf(user).uid ?? process.getuid!());
      expect(report.identity).toMatchObject({ uid });
      if (user === 'root') expect(report.identity).toEqual({ uid, gid: uid, groups: [] });
      const none = '0000000000000000';
      const noCapabilities = { CapInh: none, CapPrm: none, CapEff: none, CapAmb: none };
      expect(report.status).toEqual({ ...noCapabilities, NoNewPrivs: '1', Seccomp: '2' });
      expect(new Set(Object.values(report.calls))).toEqual(new Set(['refused']));
      expect(report['setuid programs']).toEqual([]);
      expect(report.processes).toBe(1);
    });

    test('no secret of the server is in its reach', () => {
      const everything = JSON.stringify(report);
      expect([stage.canary, PASSWORD].filter((secret) => everything.includes(secret))).toEqual([]);
      // The fourth is the folder that lists them.
      expect(report.descriptors).toEqual(['0', '1', '2', '3']);
      expect(report.environment).toMatchObject({ UV_DEFAULT_INDEX: 'http://127.0.0.1:3128/simple/0/' });
    });

    test('what it left in the environment is harmless', () => {
      expect(report.fill).toBe('filled');
      const mode = (path: string) => (lstatSync(`${environment}/${path}`).mode & 0o7777).toString(8);
      expect(mode('bin/rootshell')).toBe('755');
      expect([mode('closed'), mode('closed/file')]).toEqual(['755', '644']);
      const gone = ['file-link', 'old-link', 'lib/folder-link', 'lib/up-link', 'pipe', 'socket'];
      expect(gone.filter((path) => lstatSync(`${environment}/${path}`, { throwIfNoEntry: false }))).toEqual(
        [],
      );
      expect(readlinkSync(`${environment}/bin/neighbour-link`)).toBe('rootshell');
      expect(readlinkSync(`${environment}/kept-link`)).toBe('/bin/sh');
      expect(existsSync(`${environment}/bin/python`)).toBe(true);
    });

    test('everything belongs to the server again, and nothing else was given away', () => {
      const owner = identityOf(user).uid ?? process.getuid!();
      const paths = readdirSync(environment, { recursive: true }) as string[];
      const strange = ['.', ...paths].filter((path) => lstatSync(`${environment}/${path}`).uid !== owner);
      expect(strange).toEqual([]);
      const { uid, mode } = lstatSync(`${folder}/outside/file`);
      expect({ uid, mode: mode & 0o7777 }).toEqual({ uid: owner, mode: 0o640 });
      expect(lstatSync(`${folder}/shared-hostile.txt`).uid).toBe(owner);
    });

    test('a file that another environment shares is not changed there', () => {
      expect(readFileSync(`${environment}/shared.txt`, 'utf8')).toBe('shared\nhostile\n');
      expect(readFileSync(`${folder}/shared-hostile.txt`, 'utf8')).toBe('shared\n');
    });

    test('a build that kills all it can reach ends only itself', () => {
      const { status, error } = installed('signalling');
      expect({ error, failed: status !== null && status > 0 }).toEqual({ error: null, failed: true });
    });

    test('aborted, it throws the reason', () => {
      expect(installed('staying').error?.message).toContain('no longer wanted');
    });

    test('no process and no file is left', () => {
      expect(report.stay).toBe('started');
      expect(done.survivors).toEqual([]);
      expect(readdirSync(`${folder}/tmp`)).toEqual([]);
      expect(readdirSync(folder).filter((name) => name.startsWith('scratch'))).toEqual([]);
    });
  });

  test('where the jail cannot be entered nothing is built, and that is said', async () => {
    const index = await startPackageIndex();
    const folder = homeOf(stage, 'root', 'rootless');
    // As in a container without privileges, whose root has no other identity that it could give to the build.
    const { installed } = await runInstallations(
      stage,
      'root',
      { python: stage.python, uv: stage.uv, folder, index: index.url, packages: [{ name: 'onlysource' }] },
      ['unshare', '--user', '--map-root-user'],
    );
    await index.stop();
    expect(installed.get('onlysource')?.error).toMatchObject({
      code: 'TOOL_UNAVAILABLE',
      message: expect.stringContaining(
        'Source distributions are built in a sandbox of kernel namespaces, which cannot be entered here: ',
      ),
    });
    expect(index.requests).toEqual([]);
  });
});
