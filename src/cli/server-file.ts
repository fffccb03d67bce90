import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const ServerFile = z.object({ pid: z.int(), url: z.url() });
export type ServerFile = z.infer<typeof ServerFile>;

/** Where the server of this data dir listens, as it wrote down when it started; it may be gone by now. */
export function readServerFile(dataDir: string): ServerFile | undefined {
  try {
    return ServerFile.safeParse(JSON.parse(readFileSync(pathIn(dataDir), "utf8"))).data;
  } catch {
    return undefined;
  }
}

export function writeServerFile(dataDir: string, server: ServerFile): Disposable {
  const draft = `${pathIn(dataDir)}.new`;
  writeFileSync(draft, JSON.stringify(server), { mode: 0o600 });
  renameSync(draft, pathIn(dataDir));
  return { [Symbol.dispose]: () => rmSync(pathIn(dataDir), { force: true }) };
}

function pathIn(dataDir: string): string {
  return join(dataDir, "server.json");
}
