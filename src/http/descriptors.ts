import { closeSync, openSync } from "node:fs";
import { z } from "zod";
import type { Log } from "../log.ts";

const LOOK_EVERY_MS = 1_000;

/** Assumed if the system reports no limit, or a limit that is not a number. */
const UNKNOWN_LIMIT = 10_000;
const Report = z.object({ userLimits: z.object({ open_files: z.object({ soft: z.number().positive() }) }) });

/** Returns how many files and connections this process may have open at once. */
export function descriptorLimit(): number {
  return Report.safeParse(process.report.getReport()).data?.userLimits.open_files.soft ?? UNKNOWN_LIMIT;
}

/**
 * Closes idle connections while no file descriptors are left, and logs that once. New connections get no answer then,
 * and nothing else would show the reason.
 */
export function watchDescriptors(log: Log, closeIdle: () => void): Disposable {
  let wereLeft = true;
  const timer = setInterval(() => {
    const areLeft = canOpen();
    if (!areLeft) closeIdle();
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
