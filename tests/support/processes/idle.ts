import { readFileSync } from "node:fs";

const IDLE_LOOKS = 5;
const LOOK_EVERY_MS = 100;
const TIMEOUT_MS = 20_000;

/** Waits until the process has used no processor time for a while: it has read its input and waits. */
export async function untilIdle(pid: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  let used = "";
  // Always after the same time: what does a little now and then is never idle for long.
  for (let looks = 0; looks < IDLE_LOOKS; ) {
    if (performance.now() > deadline) throw new Error(`waited ${TIMEOUT_MS} ms in vain for process ${pid} to be idle`);
    await Bun.sleep(LOOK_EVERY_MS);
    const now = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ").slice(13, 15).join(" ");
    looks = now === used ? looks + 1 : 0;
    used = now;
  }
}
