import { createHash } from "node:crypto";
import { join } from "node:path";
import * as tar from "tar";

export type Registry = AsyncDisposable & { url: string };

/** A package registry with a made-up Bun for every platform. */
export async function startForgingRegistry(folder: string): Promise<Registry> {
  const forged = join(folder, "package", "bin", "bun");
  await Bun.write(forged, "#!/bin/sh\necho forged\n");
  const archive = join(folder, "forged.tgz");
  const integrityOf = (bytes: Uint8Array) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, origin } = new URL(request.url);
      if (pathname === "/forged.tgz") return new Response(Bun.file(archive));
      const name = decodeURIComponent(pathname.slice(1));
      await Bun.write(join(folder, "package", "package.json"), JSON.stringify({ name, version: Bun.version }));
      await tar.create({ file: archive, cwd: folder, gzip: true }, ["package"]);
      const dist = { tarball: `${origin}/forged.tgz`, integrity: integrityOf(await Bun.file(archive).bytes()) };
      const version = { name, version: Bun.version, dist };
      return Response.json({
        name,
        "dist-tags": { latest: Bun.version },
        versions: { [Bun.version]: version },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}
