import { createCipheriv, createECDH, createHmac, randomBytes } from "node:crypto";

/** The keys that a browser gave for messages which only it can read. */
export type BrowserKeys = { p256dh: string; auth: string };

const CURVE = "prime256v1";
const SALT_BYTES = 16;
const RECORD_BYTES = 4_096;
/** The size of the header (salt, its length, our public key) and of the authentication tag. */
const AROUND_BYTES = SALT_BYTES + 5 + 65 + 16;
/** Marks the last record. The zeros after it are padding. */
const LAST = 2;

/** The random values of each message. Tests pass known ones. */
type Ephemeral = { salt: Buffer; privateKey: Buffer };

/**
 * Encrypts the text for this browser (RFC 8291, in one record of RFC 8188), padded to `size` bytes so that its length
 * tells the push service nothing. Implemented here because it takes only one key agreement, four derivations and one
 * cipher of node:crypto, while the usual package adds eleven others and sends by itself, to whatever address a name
 * resolves to.
 */
export function encrypted(text: string, to: BrowserKeys, size: number, own?: Ephemeral): Buffer {
  const { salt, privateKey } = own ?? { salt: randomBytes(SALT_BYTES), privateKey: undefined };
  const ours = createECDH(CURVE);
  if (privateKey) ours.setPrivateKey(privateKey);
  else ours.generateKeys();
  const browser = Buffer.from(to.p256dh, "base64url");
  const shared = ours.computeSecret(browser);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), browser, ours.getPublicKey()]);
  const secret = derived(Buffer.from(to.auth, "base64url"), shared, info, 32);
  const key = derived(salt, secret, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(salt, secret, Buffer.from("Content-Encoding: nonce\0"), 12);
  const content = Buffer.from(text);
  const plain = Buffer.alloc(Math.max(content.length, Math.min(size, RECORD_BYTES - AROUND_BYTES - 1)) + 1);
  content.copy(plain);
  plain[content.length] = LAST;
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD_BYTES);
  head.writeUInt8(ours.getPublicKey().length, 4);
  return Buffer.concat([salt, head, ours.getPublicKey(), cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF with SHA-256 (RFC 5869), limited to one block, which is enough here. */
function derived(salt: Buffer, secret: Buffer, info: Buffer, length: number): Buffer {
  const extracted = createHmac("sha256", salt).update(secret).digest();
  return createHmac("sha256", extracted).update(info).update("\x01").digest().subarray(0, length);
}
