import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { LINK_PATH } from "../../contract/link.ts";
import { MANIFEST_PATH, WORKER_PATH } from "../../contract/page-address.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { type Asset, bundlePage, embeddedPage } from "../../web/bundle.ts";
import type { Env } from "../middleware/auth.ts";

/** Allows only this server's files and routes: no inline code, no other host, no HTML made from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // The only script address the page may create is that of its own worker.
  "trusted-types plexus-worker",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  Vary: "Accept-Encoding",
};

type Bytes = Buffer<ArrayBuffer>;
/** `encodings` begins with the best one. */
type PageFile = { type: string; etag: string; plain: Bytes; encodings: { encoding: string; bytes: Bytes }[] };

/** Loads the files of the web page, by path. */
export type LoadPage = () => Promise<Map<string, PageFile>>;

/** The binary contains the page; when run from source, it is bundled once, at the first request. */
export function createPageLoader(): LoadPage {
  let page: ReturnType<LoadPage> | undefined;
  return () => {
    page ??= readPage();
    return page;
  };
}

/** Serves the web page to everybody: it contains only code. */
export function pageRoutes(loadPage: LoadPage) {
  const answer = async (c: Context<Env>) => {
    const file = (await loadPage()).get(c.req.path);
    if (!file) throw new AppError("not_found", `There is nothing at ${c.req.method} ${c.req.path}.`);
    return respond(c, file);
  };
  return new Hono<Env>()
    .get("/", answer)
    .get(LINK_PATH, answer)
    .get(MANIFEST_PATH, answer)
    .get(WORKER_PATH, answer)
    .get("/assets/:name", answer);
}

async function readPage(): ReturnType<LoadPage> {
  const assets = (await embeddedPage()) ?? (await bundlePage("quick"));
  return new Map(assets.map((asset) => [asset.path, prepared(asset)]));
}

function prepared({ type, body, gzip, brotli }: Asset): PageFile {
  const decoded = (text: string) => Buffer.from(text, "base64");
  const plain = decoded(body);
  return {
    type,
    etag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    plain,
    encodings: [
      { encoding: "br", bytes: decoded(brotli) },
      { encoding: "gzip", bytes: decoded(gzip) },
    ],
  };
}

function respond(c: Context<Env>, { type, etag, plain, encodings }: PageFile): Response {
  const accepted = c.req.header("accept-encoding") ?? "";
  const best = encodings.find(({ encoding }) => accepts(accepted, encoding)) ?? { encoding: undefined, bytes: plain };
  // A file with a hash in its name never changes.
  const isForever = /-[a-z0-9]{8}\.\w+$/.test(c.req.path);
  const headers = {
    ...HEADERS,
    "Content-Type": type,
    "Cache-Control": isForever ? "public, max-age=31536000, immutable" : "no-cache",
    ETag: `"${etag}-${best.encoding ?? "plain"}"`,
    ...(best.encoding && { "Content-Encoding": best.encoding }),
  };
  if (c.req.header("if-none-match") === headers.ETag) return new Response(null, { status: 304, headers });
  return new Response(best.bytes, { headers });
}

function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((item) => {
    const [name, quality = ""] = item.trim().split(";");
    return name === encoding && !/q=0(\.0*)?$/.test(quality.trim());
  });
}
