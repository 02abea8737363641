import {
  createPrivateKey,
  createPublicKey,
  sign as edSign,
  verify as edVerify,
  type KeyObject,
} from 'node:crypto';
import { PungiError } from '@pungi/core/base';

/**
 * Signed messages: the signature, the public key, then the content. What is signed begins with the subject, so that a message is
 * of no use elsewhere. Keys are nkeys; signatures are made by Node, which takes a hundredth of the time of the nkeys package.
 */
const SIGNATURE_BYTES = 64;
const KEY_CHARACTERS = 56;
const HEAD = SIGNATURE_BYTES + KEY_CHARACTERS;
const DOMAIN = 'pungi-cluster\0';

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Signs the messages of a front end. */
export class Signer {
  readonly #key: KeyObject;
  readonly #public: Buffer;

  /** `seed`: of a user, as nkeys write it. */
  constructor(
    seed: string,
    readonly publicKey: string,
  ) {
    const der = Buffer.concat([PKCS8_ED25519, rawKey(seed, 2)]);
    this.#key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.#public = Buffer.from(publicKey);
  }

  sign(subject: string, content: Buffer): Buffer {
    const signature = edSign(null, signedBytes(subject, content), this.#key);
    return Buffer.concat([signature, this.#public, content]);
  }
}

/** Opens messages that are signed by one of the front ends. */
export class Verifier {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  constructor(publicKeys: readonly string[]) {
    this.#keys = new Map(publicKeys.map((text) => [text, publicKeyOf(text)]));
  }

  /** Returns the content, or undefined if nobody whom the worker knows has signed it for this subject. */
  open(subject: string, message: Buffer): Buffer | undefined {
    if (message.length < HEAD) return undefined;
    const key = this.#keys.get(message.toString('latin1', SIGNATURE_BYTES, HEAD));
    if (key === undefined) return undefined;
    const content = message.subarray(HEAD);
    const isGenuine = edVerify(
      null,
      signedBytes(subject, content),
      key,
      message.subarray(0, SIGNATURE_BYTES),
    );
    return isGenuine ? content : undefined;
  }
}

/** The content of a signed message, whoever signed it: only for what is shown to people. */
export const contentOf = (message: Buffer): Buffer => message.subarray(HEAD);

const signedBytes = (subject: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${DOMAIN}${subject}\0`), content]);

function publicKeyOf(text: string): KeyObject {
  const der = Buffer.concat([SPKI_ED25519, rawKey(text, 1)]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

/** The 32 bytes of a key after its prefix; two bytes of checksum follow. */
function rawKey(text: string, prefixBytes: number): Buffer {
  const bytes = decodeBase32(text.trim());
  if (bytes?.length !== prefixBytes + 34) throw notKey();
  return bytes.subarray(prefixBytes, prefixBytes + 32);
}

const notKey = () =>
  new PungiError(
    'CONFIGURATION_ERROR',
    'A key of the cluster is not an nkey: write it with pungi cluster init.',
  );

function decodeBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
  }
  return Buffer.from(bytes);
}
