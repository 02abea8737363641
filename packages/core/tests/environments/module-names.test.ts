import { describe, expect, test } from 'vitest';
import { distributionFor, isStandard } from '../../src/engine/module-names.js';
import { DISTRIBUTIONS, SAME_NAME, STANDARD_LIBRARY } from '../../src/engine/module-names-data.js';
import { parseRequirement } from '../../src/environments/requirements/requirement.js';

describe('the distribution of a module', () => {
  test.each(
    Object.entries({
      attr: 'attrs',
      Bio: 'biopython',
      bs4: 'beautifulsoup4',
      bson: 'pymongo',
      Crypto: 'pycryptodome',
      cv2: 'opencv-python',
      dateutil: 'python-dateutil',
      discord: 'discord-py',
      dns: 'dnspython',
      docx: 'python-docx',
      dotenv: 'python-dotenv',
      faiss: 'faiss-cpu',
      fitz: 'pymupdf',
      git: 'gitpython',
      googleapiclient: 'google-api-python-client',
      imblearn: 'imbalanced-learn',
      jwt: 'pyjwt',
      magic: 'python-magic',
      mpl_toolkits: 'matplotlib',
      MySQLdb: 'mysqlclient',
      nacl: 'pynacl',
      OpenSSL: 'pyopenssl',
      PIL: 'pillow',
      pkg_resources: 'setuptools',
      pptx: 'python-pptx',
      psycopg2: 'psycopg2-binary',
      rest_framework: 'djangorestframework',
      serial: 'pyserial',
      skimage: 'scikit-image',
      sklearn: 'scikit-learn',
      slugify: 'python-slugify',
      telegram: 'python-telegram-bot',
      usb: 'pyusb',
      websocket: 'websocket-client',
      win32com: 'pywin32',
      yaml: 'pyyaml',
      zmq: 'pyzmq',
    }),
  )('for %s is %s', (module, distribution) => {
    expect(distributionFor(module)).toBe(distribution);
  });

  test.each([
    ['numpy', 'numpy'],
    ['sentence_transformers', 'sentence-transformers'],
    ['docker', 'docker'],
    ['bcrypt', 'bcrypt'],
    ['msgpack', 'msgpack'],
    ['kazoo', 'kazoo'],
    ['PyPDF2', 'pypdf2'],
  ])('for %s is %s, by its own name', (module, distribution) => {
    expect(distributionFor(module)).toBe(distribution);
  });

  test.each([
    ['google.protobuf', 'protobuf'],
    ['google.protobuf.message', 'protobuf'],
    ['google.cloud.storage', 'google-cloud-storage'],
    ['google.cloud.storage.blob', 'google-cloud-storage'],
    ['azure.identity', 'azure-identity'],
    ['azure.storage.blob', 'azure-storage-blob'],
    ['zope.interface', 'zope-interface'],
    ['ruamel.yaml', 'ruamel-yaml'],
    ['sklearn.linear_model', 'scikit-learn'],
    ['mpl_toolkits.basemap', 'basemap'],
  ])('for %s is %s, though its first part does not tell', (module, distribution) => {
    expect(distributionFor(module)).toBe(distribution);
  });

  test.each([
    ['of the standard library', 'tkinter'],
    ['of the standard library on another system', 'winreg'],
    ['of the standard library in other versions', 'imp'],
    ['of Python 2', 'urllib2'],
    ['private', '_sqlite3'],
    ['a namespace', 'google'],
    ['a namespace within one', 'google.cloud'],
    ['what projects call their own files', 'utils'],
    ['nobody knows whose', 'no_such_module'],
    ['the name of a well-known one with a letter too many', 'numpyy'],
    ['what every object has', 'constructor'],
    ['of a namespace, and not known', 'google.cloud.nothing'],
    ['of old versions of the standard library', 'distutils'],
    ['no name that a distribution can have', 'größe'],
    ['an option in disguise', '__index_url'],
    ['empty', ''],
    ['two dots', '..'],
  ])('is not told where the module is %s', (_, module) => {
    expect(distributionFor(module)).toBeNull();
  });
});

describe('the mapping', () => {
  test('leads to names that can be installed, in their normal form', () => {
    const values = [...Object.values(DISTRIBUTIONS), ...SAME_NAME.map((name) => distributionFor(name)!)];
    expect(values.length).toBeGreaterThan(300);
    for (const value of values) {
      expect(parseRequirement(value, [])).toMatchObject({ key: value, text: value, specifier: '' });
    }
  });

  test('says nothing twice, and nothing that goes without saying', () => {
    const modules = Object.keys(DISTRIBUTIONS);
    expect(modules).toEqual([...modules].sort());
    expect(modules.filter((name) => SAME_NAME.includes(name) || STANDARD_LIBRARY.includes(name))).toEqual([]);
    expect(SAME_NAME.filter((name) => isStandard(name))).toEqual([]);
    const plain = Object.entries(DISTRIBUTIONS).filter(
      ([module, value]) => !module.includes('.') && module.replaceAll('_', '-').toLowerCase() === value,
    );
    expect(plain).toEqual([]);
  });
});
