import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

/** The program under test: the executable that `npm test` built, which starts much faster, or the sources. */
export const PROGRAM = executable() ?? [process.execPath, MAIN];

function executable(): string[] | undefined {
  const path = process.env["TEST_PROGRAM"];
  return path === undefined ? undefined : [path];
}
