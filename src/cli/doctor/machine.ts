import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { Failing } from "./finding.ts";

const OTHER_DIR = "choose another one with --data-dir or PLEXUS_DATA_DIR";

/** Checks that a server can keep its data there, without creating anything. */
export function lookAtDataDir({ dataDir }: Config): string {
  const there = nearest(dataDir);
  if (!statSync(there).isDirectory())
    throw new Failing(`${there} is not a directory.`, `Move it away, or ${OTHER_DIR}.`);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch {
    throw new Failing(`${there} can't be written.`, `Change its owner or mode, or ${OTHER_DIR}.`);
  }
  if (there !== dataDir) return `${dataDir} (the first start makes it)`;
  refuseReadable(join(dataDir, "operator-token"));
  return dataDir;
}

/** Checks that a server could listen on its port. */
export async function lookAtPort({ host, port }: Config): Promise<string> {
  if (port === 0) return "any that is free";
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen({ host, port }, resolve);
  try {
    await promise;
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    const says =
      reason === "EADDRINUSE"
        ? `${port} of ${host} is in use by another program.`
        : `${port} of ${host} can't be listened on (${reason}).`;
    throw new Failing(says, "Stop what uses it, or choose another one with --port or PLEXUS_PORT.");
  } finally {
    server.close();
  }
  return `${port} of ${host} is free`;
}

/** The path itself, or its closest existing parent. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function refuseReadable(tokenFile: string): void {
  const mode = statSync(tokenFile, { throwIfNoEntry: false })?.mode ?? 0o600;
  if ((mode & 0o077) === 0) return;
  throw new Failing(`${tokenFile} can be read by others.`, `Run \`chmod 600 ${tokenFile}\`.`);
}
