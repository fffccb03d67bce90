import { readFileSync } from "node:fs";
import { until } from "../until.ts";

const IDLE_LOOKS = 5;
const LOOK_EVERY_MS = 100;

/** Waits until the process has used no processor time for a while: it has read its input and waits. */
export async function untilIdle(pid: number): Promise<void> {
  let used = "";
  let looks = 0;
  await until(`process ${pid} to be idle`, async () => {
    await Bun.sleep(LOOK_EVERY_MS);
    const now = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ").slice(13, 15).join(" ");
    looks = now === used ? looks + 1 : 0;
    used = now;
    return looks >= IDLE_LOOKS;
  });
}
