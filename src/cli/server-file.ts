import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fileFailure, systemCode } from "./file-failure.ts";

/** Whoever calls the server needs to know which token is the operator's: the stored one, or one from its environment. */
const ServerFile = z.object({
  pid: z.int().positive(),
  url: z.url(),
  operator_token: z.enum(["stored", "environment", "none"]),
});
export type ServerFile = z.infer<typeof ServerFile>;

/** Where the server of this data dir listens, as it wrote down when it started; it may be gone by now. */
export function readServerFile(dataDir: string): ServerFile | undefined {
  try {
    return ServerFile.safeParse(JSON.parse(readFileSync(pathIn(dataDir), "utf8"))).data;
  } catch (cause) {
    if (cause instanceof SyntaxError || systemCode(cause) === "ENOENT") return undefined;
    throw fileFailure(`The data dir ${dataDir} can't be read`, cause);
  }
}

export function writeServerFile(dataDir: string, server: ServerFile): Disposable {
  const draft = `${pathIn(dataDir)}.new`;
  try {
    writeFileSync(draft, JSON.stringify(server), { mode: 0o600 });
    renameSync(draft, pathIn(dataDir));
  } catch (cause) {
    throw fileFailure(`The data dir ${dataDir} can't be written`, cause);
  }
  return { [Symbol.dispose]: () => rmSync(pathIn(dataDir), { force: true }) };
}

/** A server that was killed leaves its file behind, and its port to anybody. */
export function isGone({ pid }: ServerFile): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (cause) {
    return systemCode(cause) === "ESRCH";
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, "server.json");
}
