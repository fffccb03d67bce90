import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as tar from "tar";
import { TARGETS } from "../../scripts/release/targets.ts";

export const FAKE_VERSION = "9.9.9";

export type Mirror = AsyncDisposable & { url: string; folder: string };

/** Serves a folder from which a release is downloaded. */
export function serveFolder(folder: string, tls?: Certificate): Mirror {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls && { tls }),
    async fetch(request) {
      const file = Bun.file(join(folder, new URL(request.url).pathname));
      return (await file.exists()) ? new Response(file) : new Response("not here", { status: 404 });
    },
  });
  return mirrorOf(server, folder, tls);
}

/** Redirects every request to another address. */
export function redirectTo(url: string, tls?: Certificate): Mirror {
  const fetch = (request: Request) => Response.redirect(`${url}${new URL(request.url).pathname}`, 302);
  return mirrorOf(Bun.serve({ hostname: "127.0.0.1", port: 0, ...(tls && { tls }), fetch }), "", tls);
}

export type Certificate = { key: string; cert: string };

/** A self-signed certificate. */
export async function makeCertificate(folder: string): Promise<Certificate & { path: string }> {
  const [key, path] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", path, ...names];
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...made]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return { key: await Bun.file(key).text(), cert: await Bun.file(path).text(), path };
}

function mirrorOf(server: Bun.Server<undefined>, folder: string, tls: Certificate | undefined): Mirror {
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
  return { url, folder, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** A small release for every platform: its plexus is a script that prints its platform. */
export async function makeFakeRelease(folder: string, body = 'echo "plexus 9.9.9 for $TARGET"'): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name } of TARGETS) {
    const workshop = join(folder, `.${name}`);
    await mkdir(workshop);
    await writeFile(join(workshop, "plexus"), `#!/bin/sh\nTARGET=${name}\n${body}\n`);
    await chmod(join(workshop, "plexus"), 0o755);
    await tar.create({ file: join(folder, archiveOf(name)), cwd: workshop, gzip: true }, ["plexus"]);
  }
  await writeSums(folder);
}

export async function writeSums(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".tar.gz")).sort();
  const lines = await Promise.all(
    names.map(async (name) => {
      const bytes = await Bun.file(join(folder, name)).bytes();
      return `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`;
    }),
  );
  await writeFile(join(folder, "SHA256SUMS"), lines.join(""));
}

export function archiveOf(target: string): string {
  return `plexus-${FAKE_VERSION}-${target}.tar.gz`;
}
