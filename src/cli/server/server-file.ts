import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { findProcess, isSameProcess } from "../../claude/process/processes.ts";
import { fileFailure, systemCode } from "./file-failure.ts";

/** `operator_token` says which token is the operator's: the stored one, one from the server's environment, or none. */
const ServerFile = z.object({
  pid: z.int().positive(),
  /** Distinguishes the server from a later process with the same pid. */
  start_time: z.string().optional(),
  url: z.url(),
  operator_token: z.enum(["stored", "environment", "none"]),
});
export type ServerFile = z.infer<typeof ServerFile>;

/** The address that the server of this data dir noted at its start. The server may be gone by now. */
export function readServerFile(dataDir: string): ServerFile | undefined {
  try {
    return ServerFile.safeParse(JSON.parse(readFileSync(pathIn(dataDir), "utf8"))).data;
  } catch (cause) {
    if (cause instanceof SyntaxError || systemCode(cause) === "ENOENT") return undefined;
    throw fileFailure(`The data dir ${dataDir} can't be read`, cause);
  }
}

/** Notes the address of this process until disposed. */
export function writeServerFile(dataDir: string, where: Pick<ServerFile, "url" | "operator_token">): Disposable {
  const draft = `${pathIn(dataDir)}.new`;
  const { pid } = process;
  const server: ServerFile = { pid, start_time: findProcess(pid)?.startTime, ...where };
  try {
    writeFileSync(draft, JSON.stringify(server), { mode: 0o600 });
    renameOrRemove(draft, pathIn(dataDir));
  } catch (cause) {
    throw fileFailure(`The data dir ${dataDir} can't be written`, cause);
  }
  return { [Symbol.dispose]: () => rmSync(pathIn(dataDir), { force: true }) };
}

/** Whether the server is gone: a killed server leaves its file behind, and any process may use its port. */
export function isGone({ pid, start_time }: ServerFile): boolean {
  if (start_time !== undefined) return !isSameProcess({ pid, startTime: start_time });
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

/** Renames the draft, or removes it if that fails. */
function renameOrRemove(draft: string, path: string): void {
  try {
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}
