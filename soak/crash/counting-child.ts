/**
 * The child in the rounds of `turns.ts`: writes numbered messages at a random pace, until a file `enough` exists in its
 * directory.
 */
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { RESULT_LINE } from "../../tests/support/claude/stand-in.ts";
import { createRandom } from "../../tests/support/random.ts";
import { messageOf } from "./counted.ts";

const SLOWEST_MS = 25;
const random = createRandom((await Bun.stdin.text()).trim());

let count = 0;
for (; !existsSync("enough"); count++) {
  for (const line of messageOf(count, random)) {
    // In two parts, so that the server is sometimes killed after it has read only the first.
    const cut = random.between(0, line.length);
    writeSync(1, line.slice(0, cut));
    if (random.chance(0.3)) await Bun.sleep(random.next() * SLOWEST_MS);
    writeSync(1, `${line.slice(cut)}\n`);
  }
  await Bun.sleep(random.next() * SLOWEST_MS);
}
writeFileSync("counted", String(count));
writeSync(1, `${RESULT_LINE}\n`);
