import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** Answers for one reader: whoever carries them, or repeats the request for them, learns nothing. */
const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];
/** The DER of an X25519 key has this length. */
const KEY_BYTES = 44;

/** The reader's key for one request. */
export class SealedReader {
  readonly #pair = generateKeyPairSync('x25519');
  readonly key = derOf(this.#pair.publicKey).toString('base64');

  /** Returns undefined for what was not sealed for this key. */
  open(sealed: Buffer): Buffer | undefined {
    try {
      const sender = keyOf(sealed.subarray(0, KEY_BYTES));
      const iv = sealed.subarray(KEY_BYTES, KEY_BYTES + IV_BYTES);
      const tag = sealed.subarray(KEY_BYTES + IV_BYTES, KEY_BYTES + IV_BYTES + TAG_BYTES);
      const secret = secretOf(this.#pair.privateKey, sender);
      const decipher = createDecipheriv(CIPHER, secret, iv, { authTagLength: TAG_BYTES }).setAuthTag(tag);
      const content = sealed.subarray(KEY_BYTES + IV_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(content), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

/** Encrypts for the key of a request. Throws if it is none. */
export function seal(content: Buffer, key: string): Buffer {
  const pair = generateKeyPairSync('x25519');
  const secret = secretOf(pair.privateKey, keyOf(Buffer.from(key, 'base64')));
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, secret, iv, { authTagLength: TAG_BYTES });
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([derOf(pair.publicKey), iv, cipher.getAuthTag(), encrypted]);
}

const derOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const keyOf = (der: Buffer): KeyObject => createPublicKey({ key: der, format: 'der', type: 'spki' });
const secretOf = (privateKey: KeyObject, publicKey: KeyObject): Buffer =>
  Buffer.from(hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), '', 'pungi-cluster trail', 32));
