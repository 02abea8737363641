import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { bits, type Der, integer, objectId, octets, sequence, set, TRUE, tagged, time, utf8 } from './der.js';

/** A certificate with its private key, both as PEM. */
export interface Certified {
  certificate: string;
  key: string;
}

const IDS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const AUTHORITY = 'Pungi cluster authority';
const DAY_MS = 86_400_000;
const YEARS = 10;
/** Clocks of other machines may be behind. */
const BEFORE_MS = DAY_MS;

/** A certificate authority of the cluster's own: nobody else's certificates are accepted. */
export function makeAuthority(): Certified {
  const { privateKey, publicKey } = makeKeys();
  const certificate = issue({
    subject: AUTHORITY,
    publicKey,
    issuerKey: privateKey,
    extensions: [
      extension(IDS.basicConstraints, sequence(TRUE, integer(Buffer.from([0]))), true),
      // keyCertSign
      extension(IDS.keyUsage, bits(Buffer.from([0x04]), 2), true),
    ],
  });
  return { certificate, key: pemOf(privateKey) };
}

/** The certificate of a server that answers under these names and addresses. */
export function makeServerCertificate(authorityKey: string, hosts: readonly string[]): Certified {
  const { privateKey, publicKey } = makeKeys();
  const certificate = issue({
    subject: 'Pungi cluster NATS server',
    publicKey,
    issuerKey: createPrivateKey(authorityKey),
    extensions: [
      extension(IDS.basicConstraints, sequence(), true),
      // digitalSignature
      extension(IDS.keyUsage, bits(Buffer.from([0x80]), 7), true),
      extension(IDS.extendedKeyUsage, sequence(objectId(IDS.serverAuth))),
      extension(IDS.subjectAltName, sequence(...hosts.map(alternativeName))),
    ],
  });
  return { certificate, key: pemOf(privateKey) };
}

interface Issue {
  subject: string;
  publicKey: KeyObject;
  issuerKey: KeyObject;
  extensions: readonly Der[];
}

/** RFC 5280, section 4.1. */
function issue({ subject, publicKey, issuerKey, extensions }: Issue): string {
  const algorithm = sequence(objectId(IDS.ecdsaWithSha256));
  const now = Date.now();
  const ends = new Date(now);
  ends.setUTCFullYear(ends.getUTCFullYear() + YEARS);
  const keyIds = [
    extension(IDS.subjectKeyId, octets(keyIdOf(publicKey))),
    extension(IDS.authorityKeyId, sequence(tagged(0, keyIdOf(createPublicKey(issuerKey)), true))),
  ];
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    algorithm,
    nameOf(AUTHORITY),
    sequence(time(new Date(now - BEFORE_MS)), time(ends)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...keyIds, ...extensions)),
  );
  const certificate = sequence(content, algorithm, bits(sign('sha256', content, issuerKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const makeKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const keyIdOf = (key: KeyObject): Buffer =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);

/** Positive, and never zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

const nameOf = (commonName: string): Der =>
  sequence(set(sequence(objectId(IDS.commonName), utf8(commonName))));

const extension = (id: string, content: Der, isCritical = false): Der =>
  sequence(objectId(id), ...(isCritical ? [TRUE] : []), octets(content));

function alternativeName(host: string): Der {
  const address = addressBytes(host);
  return address === undefined ? tagged(2, Buffer.from(host), true) : tagged(7, address, true);
}

function addressBytes(host: string): Buffer | undefined {
  if (isIPv4(host)) return Buffer.from(host.split('.').map(Number));
  return isIPv6(host) ? ipv6Bytes(host) : undefined;
}

function ipv6Bytes(host: string): Buffer {
  // The URL parser writes dotted ends as two groups.
  const [head = '', tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const all = [...before, ...zeros, ...after];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
