import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";

const CURVE = "prime256v1";
/** Push services accept at most a day. */
const VALID_SECS = 12 * 60 * 60;

/** The key by which push services recognize this server (VAPID, RFC 8292). */
export type SenderKey = {
  /** The key that browsers need to subscribe: base64url. */
  publicKey: string;
  /** The header that signs a message to this endpoint. */
  authorization(endpoint: string, contact: string, nowSecs: number): string;
};

/** Derives the key from a secret, so that it is the same after each start. */
export function senderKey(secret: string): SenderKey {
  const { publicKey, privateKey } = keysFrom(secret);
  return {
    publicKey: publicKey.toString("base64url"),
    authorization(endpoint, contact, nowSecs) {
      const head = encoded({ typ: "JWT", alg: "ES256" });
      const claims = encoded({ aud: new URL(endpoint).origin, exp: nowSecs + VALID_SECS, sub: contact });
      const signature = sign("sha256", Buffer.from(`${head}.${claims}`), {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      });
      return `vapid t=${head}.${claims}.${signature.toString("base64url")}, k=${this.publicKey}`;
    },
  };
}

function keysFrom(secret: string): { publicKey: Buffer; privateKey: KeyObject } {
  const pair = createECDH(CURVE);
  pair.setPrivateKey(createHash("sha256").update(`web push ${secret}`).digest());
  const publicKey = pair.getPublicKey();
  const privateKey = createPrivateKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      d: pair.getPrivateKey("base64url"),
      x: publicKey.subarray(1, 33).toString("base64url"),
      y: publicKey.subarray(33).toString("base64url"),
    },
  });
  return { publicKey, privateKey };
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
