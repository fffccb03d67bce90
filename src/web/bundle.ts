import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { BunPlugin } from "bun";
import { z } from "zod";
import { LINK_PATH } from "../contract/link.ts";
import { MANIFEST_PATH, WORKER_PATH } from "../contract/page-address.ts";
import { MANIFEST, PICTURES } from "./install/manifest.ts";

/** The name of the bundled page in the binary. */
export const PAGE_FILE = "plexus.page";

const Asset = z.object({ path: z.string(), type: z.string(), body: z.string(), gzip: z.string(), brotli: z.string() });
/** A file of the page, ready to answer in any encoding. Bodies are base64. */
export type Asset = z.infer<typeof Asset>;

/** How hard to compress: files in the binary are compressed only once. */
type Effort = "quick" | "best";
const BROTLI_QUALITY: Record<Effort, number> = { quick: 4, best: constants.BROTLI_MAX_QUALITY };

/** A name always has the same content. */
const HASHED = "[name]-[hash].[ext]";

/** The page in the binary; `undefined` when running from source. */
export async function embeddedPage(): Promise<Asset[] | undefined> {
  const [name] = PAGE_FILE.split(".");
  const file = Bun.embeddedFiles.find((blob) => "name" in blob && String(blob.name).startsWith(`${name}-`));
  return file && z.array(Asset).parse(await file.json());
}

/** Bundles the main page and the page of one-time links from their sources. */
export async function bundlePage(effort: Effort): Promise<Asset[]> {
  const [page, link] = [
    await bundleOf("/", "main.tsx", "page.html", effort),
    await bundleOf(LINK_PATH, "link/main.tsx", "link/link.html", effort),
  ];
  const files = [...page, ...link, ...(await appFiles(effort))];
  // Files that both pages share have the same name, so keep one of each.
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

/** The files that make the page an app. Their names never change. */
async function appFiles(effort: Effort): Promise<Asset[]> {
  const bytesOf = (path: string) => Bun.file(join(import.meta.dir, path)).bytes();
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "worker/worker.ts")],
    target: "browser",
    format: "iife",
    minify: true,
  });
  return [
    asset(MANIFEST_PATH, JSON.stringify(MANIFEST), effort),
    asset(WORKER_PATH, (await outputs[0]?.text()) ?? "", effort),
    asset("/assets/icon.svg", await bytesOf("icon.svg"), effort),
    ...(await Promise.all(
      PICTURES.map(async (name) => asset(`/assets/${name}`, await bytesOf(`install/${name}`), effort)),
    )),
  ];
}

/** A document at `path`, with everything that its script needs. */
async function bundleOf(path: string, entry: string, document: string, effort: Effort): Promise<Asset[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, entry)],
    target: "browser",
    format: "esm",
    minify: true,
    // Code behind an import() becomes a separate file, fetched when that import runs.
    splitting: true,
    naming: { entry: HASHED, chunk: HASHED, asset: HASHED },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [withoutUnused],
  });
  const files = await Promise.all(
    outputs.map(async (output) => ({ kind: output.kind, name: output.path.slice(2), text: await output.text() })),
  );
  const script = files.find(({ kind }) => kind === "entry-point")?.name ?? "";
  const style = files.find(({ name }) => name.endsWith(".css"))?.name ?? "";
  const html = await Bun.file(join(import.meta.dir, document)).text();
  return [
    asset(path, html.replace("{{script}}", script).replace("{{style}}", style), effort),
    ...files.map(({ name, text }) => asset(`/assets/${name}`, text, effort)),
  ];
}

/** Parts of zod that the page never uses, a sixteenth of it: JSON schemas and error messages. */
const UNUSED_OF_ZOD = /\/zod\/v4\/(core\/(to-json-schema|json-schema-processors)|locales\/en)\.js$/;

const withoutUnused: BunPlugin = {
  name: "without-unused",
  setup(build) {
    build.onLoad({ filter: UNUSED_OF_ZOD }, async ({ path }) => {
      const names = Object.keys(await import(path));
      const empty = (name: string) => (name === "default" ? "export default" : `export const ${name} =`);
      return { contents: names.map((name) => `${empty(name)} () => () => {};`).join("\n"), loader: "js" };
    });
  },
};

const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  webmanifest: "application/manifest+json",
};

function asset(path: string, content: string | Uint8Array, effort: Effort): Asset {
  const bytes = Buffer.from(content);
  return {
    path,
    type: TYPES[path.split(".").at(-1) ?? ""] ?? "text/html; charset=utf-8",
    body: bytes.toString("base64"),
    gzip: gzipSync(bytes, { level: 9 }).toString("base64"),
    brotli: brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort] },
    }).toString("base64"),
  };
}
