import { expect, test } from "bun:test";
import { SPELLINGS } from "../../src/config.ts";

test("plexus serve has a flag for every setting of a server that has one", async () => {
  const { stdout } = Bun.spawnSync([process.execPath, "src/main.ts", "serve", "--help"], {
    cwd: `${import.meta.dir}/../..`,
  });
  // `url` names a server to talk to, so it is no setting of a server.
  const flags = Object.entries(SPELLINGS).flatMap(([setting, { flag }]) => (flag && setting !== "url" ? [flag] : []));
  expect(flags.filter((flag) => !stdout.toString().includes(flag))).toEqual([]);
});
