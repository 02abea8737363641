import { expect, test } from 'vitest';
import { toolEnvironment } from '../../../src/environments/packaging/tool-environment.js';

const pass = (env: Record<string, string>) => {
  const { LANG: _, NO_COLOR: __, ...rest } = toolEnvironment(env);
  return rest;
};

test('what a tool needs for the network and its settings crosses', () => {
  const needed = {
    HOME: '/home/somebody',
    PATH: '/bin',
    TMPDIR: '/var/tmp',
    https_proxy: 'http://p',
    HTTP_PROXY: 'http://p',
    no_proxy: 'localhost',
    SSL_CERT_FILE: '/certs.pem',
    REQUESTS_CA_BUNDLE: '/certs.pem',
    NETRC: '/netrc',
    XDG_CONFIG_HOME: '/config',
    UV_INDEX_PRIVATE_PASSWORD: 'of an index',
    UV_CONSTRAINT: '/constraints.txt',
    UV_CONFIG_FILE: '/uv.toml',
    PIP_INDEX_URL: 'https://index.example/simple',
    PIP_CONSTRAINT: '/constraints.txt',
    PIP_CONFIG_FILE: '/pip.conf',
  };
  expect(pass(needed)).toEqual(needed);
});

test('nothing else of the server crosses', () => {
  expect(
    pass({
      AWS_SECRET_ACCESS_KEY: 's',
      NODE_OPTIONS: '--x',
      VIRTUAL_ENV: '/v',
      PYTHONPATH: '/p',
      PYTHONHOME: '/p',
      LD_PRELOAD: '/x.so',
      GITHUB_TOKEN: 't',
      CONDA_PREFIX: '/c',
      UV_PUBLISH_TOKEN: 't',
      SOME_PROXY: 'p',
    }),
  ).toEqual({});
});

test.each([
  ...['UV_TARGET', 'UV_PREFIX', 'UV_PYTHON', 'UV_SYSTEM_PYTHON', 'UV_BREAK_SYSTEM_PACKAGES', 'UV_LINK_MODE'],
  ...['UV_NO_BINARY', 'UV_NO_BINARY_PACKAGE', 'UV_NO_BUILD', 'UV_PROJECT', 'UV_PROJECT_ENVIRONMENT'],
  ...['UV_COMPILE_BYTECODE', 'UV_CACHE_DIR', 'UV_NO_CACHE', 'UV_REQUIRE_HASHES', 'UV_NO_VERIFY_HASHES'],
  ...['UV_WORKING_DIR', 'UV_INSECURE_NO_ZIP_VALIDATION', 'UV_PYTHON_DOWNLOADS', 'UV_MANAGED_PYTHON'],
  ...['PIP_TARGET', 'PIP_PREFIX', 'PIP_USER', 'PIP_NO_BINARY', 'PIP_REQUIREMENT', 'PIP_NO_DEPS', 'PIP_ROOT'],
  ...['PIP_PYTHON', 'PIP_DRY_RUN', 'PIP_LOG', 'PIP_CACHE_DIR', 'PIP_EDITABLE'],
])('%s would change what an installation means', (name) => {
  expect(pass({ [name]: '1' })).toEqual({});
});

test('an empty setting is none', () => {
  expect(pass({ UV_INDEX: '', PIP_INDEX_URL: '', HTTP_PROXY: '' })).toEqual({});
});
