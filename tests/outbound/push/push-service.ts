import { z } from "zod";
import type { PushMessage } from "../../../src/contract/push.ts";

const Message: z.ZodType<PushMessage> = z.strictObject({
  title: z.string(),
  body: z.string(),
  tag: z.string(),
  to: z.string(),
});
const Head = z.strictObject({ typ: z.literal("JWT"), alg: z.literal("ES256") });
const Claims = z.strictObject({ aud: z.string(), exp: z.int(), sub: z.string() });

export type Pushed = { message: PushMessage; headers: Headers; bytes: number; sub: string };

/** A browser as push knows it: its endpoint at the service, and the keys with which it reads. */
export type PushBrowser = { endpoint: string; keys: { p256dh: string; auth: string }; received: Pushed[] };

export type PushService = AsyncDisposable & {
  host: string;
  /** A browser that subscribes with the sender's public key, which the service holds senders to. */
  browser(publicKey: string): Promise<PushBrowser>;
  /** Why messages were refused that were not as they must be. */
  refused: string[];
  /** What the next ones are answered; a promise holds them. */
  answer: () => Response | Promise<Response>;
};

/**
 * A push service and its browsers, on loopback: it checks who sends (RFC 8292), and they read what only they can
 * (RFC 8291). All with WebCrypto, and so with nothing of what is tested.
 */
export function startPushService(now = Date.now): PushService {
  const readers = new Map<string, (request: Request) => Promise<Pushed>>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      try {
        const read = readers.get(request.url);
        if (!read) throw new Error(`nobody is at ${request.url}`);
        await read(request);
      } catch (cause) {
        service.refused.push(String(cause));
        return new Response(null, { status: 400 });
      }
      return service.answer();
    },
  });
  const service: PushService = {
    host: `127.0.0.1:${server.port}`,
    refused: [],
    answer: () => new Response(null, { status: 201 }),
    async browser(publicKey) {
      const endpoint = `http://127.0.0.1:${server.port}/push/${crypto.randomUUID()}`;
      const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
      const own = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
      const auth = crypto.getRandomValues(new Uint8Array(16));
      const browser: PushBrowser = { endpoint, keys: { p256dh: base64(own), auth: base64(auth) }, received: [] };
      readers.set(endpoint, async (request) => {
        const sub = await senderOf(request, publicKey, now());
        const bytes = new Uint8Array(await request.arrayBuffer());
        const message = Message.parse(JSON.parse(await decrypted(bytes, pair.privateKey, own, auth)));
        const pushed = { message, headers: request.headers, bytes: bytes.length, sub };
        browser.received.push(pushed);
        return pushed;
      });
      return browser;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return service;
}

/** Refuses who did not sign with the key that the browser subscribed with; returns how to reach who sends. */
async function senderOf({ headers, url }: Request, publicKey: string, now: number): Promise<string> {
  const [, head = "", claims = "", signature = "", key = ""] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(headers.get("authorization") ?? "") ?? [];
  if (key !== publicKey) throw new Error("signed with another key than the browser has subscribed with");
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const verifying = await crypto.subtle.importKey("raw", bytesIn(publicKey), algorithm, false, ["verify"]);
  const signed = new TextEncoder().encode(`${head}.${claims}`);
  const hashed = { name: "ECDSA", hash: "SHA-256" };
  if (!(await crypto.subtle.verify(hashed, verifying, bytesIn(signature), signed)))
    throw new Error("a wrong signature");
  Head.parse(JSON.parse(textIn(head)));
  const { aud, exp, sub } = Claims.parse(JSON.parse(textIn(claims)));
  const left = exp - now / 1000;
  if (aud !== new URL(url).origin || left < 60 || left > 86_400) throw new Error("signed for another place or time");
  for (const name of ["ttl", "urgency", "topic"]) if (!headers.get(name)) throw new Error(`no ${name}`);
  if (headers.get("content-encoding") !== "aes128gcm") throw new Error("not encrypted as browsers read it");
  return sub;
}

async function decrypted(bytes: Uint8Array<ArrayBuffer>, privateKey: CryptoKey, own: Uint8Array, auth: Uint8Array) {
  if (bytes.length > 4_096) throw new Error("longer than push services take");
  const [salt, length] = [bytes.slice(0, 16), bytes[20] ?? 0];
  const sender = bytes.slice(21, 21 + length);
  const ecdh = { name: "ECDH", namedCurve: "P-256" };
  const theirs = await crypto.subtle.importKey("raw", sender, ecdh, false, []);
  const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, privateKey, 256);
  const text = (words: string) => new TextEncoder().encode(words);
  const secret = await hkdf(shared, auth, new Uint8Array([...text("WebPush: info\0"), ...own, ...sender]), 32);
  const key = await hkdf(secret, salt, text("Content-Encoding: aes128gcm\0"), 16);
  const iv = await hkdf(secret, salt, text("Content-Encoding: nonce\0"), 12);
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
  const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, aes, bytes.slice(21 + length)));
  const end = plain.findLastIndex((byte) => byte !== 0);
  if (plain[end] !== 2) throw new Error("not the last record");
  return new TextDecoder().decode(plain.slice(0, end));
}

async function hkdf(secret: ArrayBuffer, salt: Uint8Array, info: Uint8Array, bytes: number): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const given = { name: "HKDF", hash: "SHA-256", salt: Uint8Array.from(salt), info: Uint8Array.from(info) };
  return crypto.subtle.deriveBits(given, key, bytes * 8);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function bytesIn(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64url"));
}

function textIn(text: string): string {
  return Buffer.from(text, "base64url").toString();
}
