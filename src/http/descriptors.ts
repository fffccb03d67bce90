import { closeSync, openSync } from "node:fs";
import type { Log } from "../log.ts";

const LOOK_EVERY_MS = 1_000;

/** Says in the log when no file descriptors are left: connections then wait unanswered, and nothing else tells why. */
export function watchDescriptors(log: Log): Disposable {
  let wereLeft = true;
  const timer = setInterval(() => {
    const areLeft = canOpen();
    if (wereLeft && !areLeft)
      log.error(
        "no file descriptors are left: new connections wait until some are closed; raise the limit (ulimit -n)",
      );
    if (!wereLeft && areLeft) log.info("file descriptors are free again");
    wereLeft = areLeft;
  }, LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function canOpen(): boolean {
  try {
    closeSync(openSync("/dev/null", "r"));
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code !== "EMFILE" && code !== "ENFILE";
  }
}
