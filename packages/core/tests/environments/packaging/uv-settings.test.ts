import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type PipSettings,
  readUvConfiguration,
  uvSettings,
} from '../../../src/environments/packaging/uv-settings.js';

import { temporaryFolder } from './venv.js';

const SILENT: PipSettings = {
  indexUrl: null,
  extraIndexUrls: [],
  findLinks: [],
  noIndex: false,
  trustedHosts: [],
  cert: null,
  clientCert: null,
  proxy: null,
  timeout: null,
  retries: null,
  constraints: [],
  pre: false,
  keyringProvider: null,
};
const FULL: PipSettings = {
  indexUrl: 'https://index.example/simple',
  extraIndexUrls: ['https://one.example/simple', 'https://two.example/simple'],
  findLinks: ['/wheels', 'https://links.example/'],
  noIndex: false,
  trustedHosts: ['one.example', 'two.example'],
  cert: '/certs.pem',
  clientCert: '/client.pem',
  proxy: 'http://proxy.example:3128',
  timeout: 7.5,
  retries: 2,
  constraints: ['/a.txt', '/b.txt'],
  pre: true,
  keyringProvider: 'subprocess',
};

const none = { keys: new Set<string>() };

test("pip's settings in uv's words", () => {
  expect(uvSettings({}, FULL, none)).toEqual({
    env: {
      UV_INDEX_URL: 'https://index.example/simple',
      UV_EXTRA_INDEX_URL: 'https://one.example/simple https://two.example/simple',
      UV_INSECURE_HOST: 'one.example two.example',
      UV_CONSTRAINT: '/a.txt /b.txt',
      UV_PRERELEASE: 'allow',
      UV_KEYRING_PROVIDER: 'subprocess',
      UV_HTTP_TIMEOUT: '8',
      UV_HTTP_RETRIES: '2',
      SSL_CERT_FILE: '/certs.pem',
      SSL_CLIENT_CERT: '/client.pem',
      HTTP_PROXY: 'http://proxy.example:3128',
      HTTPS_PROXY: 'http://proxy.example:3128',
    },
    noIndex: false,
    findLinks: ['/wheels', 'https://links.example/'],
  });
});

test('what uv is told itself stays', () => {
  const own = {
    UV_DEFAULT_INDEX: 'https://own.example/simple',
    UV_INDEX: 'extra=https://extra.example/simple',
    UV_FIND_LINKS: '/own',
    UV_INSECURE_HOST: 'own.example',
    UV_CONSTRAINT: '/own.txt',
    UV_PRERELEASE: 'disallow',
    UV_KEYRING_PROVIDER: 'disabled',
    UV_REQUEST_TIMEOUT: '9',
    UV_HTTP_RETRIES: '9',
    SSL_CERT_DIR: '/own',
    SSL_CLIENT_CERT: '/own.pem',
    https_proxy: 'http://own.example',
  };
  const settings = uvSettings(own, FULL, none);
  expect(settings).toEqual({
    env: own,
    noIndex: false,
    findLinks: [],
  });
});

test('without any setting nothing is added', () => {
  expect(uvSettings({}, SILENT, none)).toMatchObject({ env: {}, findLinks: [] });
  expect(uvSettings({}, { ...SILENT, noIndex: true }, none)).toMatchObject({ noIndex: true });
});

test('certificates of requests and curl count as they do for pip', () => {
  const folder = temporaryFolder();
  expect(
    uvSettings({ REQUESTS_CA_BUNDLE: '/r.pem', CURL_CA_BUNDLE: '/c.pem' }, SILENT, none).env,
  ).toMatchObject({
    SSL_CERT_FILE: '/r.pem',
  });
  expect(uvSettings({ CURL_CA_BUNDLE: folder }, SILENT, none).env).toMatchObject({ SSL_CERT_DIR: folder });
});

test("what the user's uv.toml says stays", async () => {
  const home = temporaryFolder();
  const write = (text: string) => {
    const path = join(home, '.config/uv/uv.toml');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const env = { HOME: home, XDG_CONFIG_DIRS: home };
  write('[[index]]\nname = "x"\nurl = "https://toml.example/simple"\ndefault = true\n');
  const tables = uvSettings(env, FULL, await readUvConfiguration(env));
  expect(tables.env).not.toHaveProperty('UV_INDEX_URL');
  expect(tables.env).not.toHaveProperty('UV_EXTRA_INDEX_URL');
  expect(tables.findLinks).toEqual(FULL.findLinks);
  write('# index-url = "x"\n[pip]\nfind-links = ["/own"]\nindex-url = "https://pip.example/simple"\n');
  const keys = uvSettings(env, { ...FULL, extraIndexUrls: [] }, await readUvConfiguration(env));
  expect(keys).toMatchObject({ findLinks: [] });
  const ignored = { ...env, UV_NO_CONFIG: '1' };
  expect(uvSettings(ignored, FULL, await readUvConfiguration(ignored)).env).toHaveProperty('UV_INDEX_URL');
});
