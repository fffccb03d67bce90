import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

/** As a model's bill is estimated here. */
const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);

/** What an agent gets of calls that a child asks about in one go, as in a project of usual depth. */
async function seen(calls: { tool_name: string; input: JsonObject }[]): Promise<JsonObject[]> {
  await using directory = await temporaryDirectory();
  const working_dir = join(directory.path, "code/my-project");
  mkdirSync(working_dir, { recursive: true });
  await using plexus = await startPlexus();
  const parent = await plexus.connect();
  const { value } = await parent.call("claudecode_create", { name: "feature-worker", working_dir });
  const session = await plexus.app.sessions.get(String(value["id"]));
  if (!session) throw new Error("the session was not made");
  for (const [at, call] of calls.entries()) {
    const tool_use_id = `toolu_01${`${at}`.padStart(22, "A")}`;
    await plexus.app.approvals.request(session, { ...call, tool_use_id });
  }
  const listed = await parent.call("loopback_pending");
  return listed.value["approvals"] as JsonObject[];
}

const bash = (command: string, description = "Run the unit tests") => ({
  tool_name: "Bash",
  input: { command, description },
});

describe("an approval with its context takes at most 170 tokens, without the child's words", () => {
  test.each([
    ["an ordinary command", bash("npm test -- --run src/parser 2>&1 | tail -20")],
    ["one with dangers", bash("rm -rf node_modules && npm install && git push --force origin feature")],
    ["one that runs as root", bash("sudo systemctl restart nginx", "Restart the web server")],
  ])("%s", async (_, call) => {
    const [approval] = await seen([call]);
    expect(approval).toHaveProperty("cwd");
    expect(tokens(approval)).toBeLessThanOrEqual(170);
  });

  test("what is constant or empty is not in it", async () => {
    const [approval] = await seen([bash("make build > log.txt")]);
    for (const [key, value] of Object.entries(approval ?? {})) {
      expect({ key, value }).not.toEqual({ key, value: null });
      expect({ key, value }).not.toEqual({ key, value: [] });
    }
    expect(tokens(approval)).toBeLessThanOrEqual(120);
  });
});
