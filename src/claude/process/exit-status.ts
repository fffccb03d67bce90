import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { filesIn } from "../launch/launch.ts";

const TAIL_BYTES = 8_192;

/** The exit code that the child's shell has written; `undefined` if there is none yet. */
export function readExitCode(dir: string): number | undefined {
  try {
    const text = readFileSync(filesIn(dir).exit, "utf8").trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** The end of what the child wrote to its stderr. */
export function readStderrTail(dir: string): string {
  let fd: number;
  try {
    fd = openSync(filesIn(dir).stderr, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const length = readSync(fd, tail, 0, tail.length, size - tail.length);
    return tail.toString("utf8", 0, length);
  } finally {
    closeSync(fd);
  }
}
