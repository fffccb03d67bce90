import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CLAUDE } from "../../support/claude/claude.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { expectRefusal } from "../support/callers.ts";

describe("/healthz and /readyz", () => {
  test("say that the server is alive and ready", async () => {
    await using plexus = await startPlexus();
    expect(await (await plexus.fetch("/healthz")).json()).toEqual({ status: "ok" });
    expect((await plexus.fetch("/readyz")).status).toBe(200);
  });

  test("warn if claude is missing, and are still ready", async () => {
    await using plexus = await startPlexus({ flags: { claude: "/nowhere/claude" } });
    const response = await plexus.fetch("/readyz");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "ready",
      claude: null,
      warnings: [expect.stringContaining("claude")],
    });
  });

  test("show the path and version of the claude that children use", async () => {
    await using plexus = await startPlexus({ flags: { claude: CLAUDE } });
    const shown = await (await plexus.fetch("/readyz")).json();
    expect(shown).toMatchObject({ claude: CLAUDE, claude_version: "2.1.325", warnings: [] });
    expect(await (await plexus.fetch("/readyz", { token: null })).json()).toEqual({ status: "ready" });
  });

  test("distinguish a server that can't write from one that is down", async () => {
    await using plexus = await startPlexus();
    using foreign = new Database(join(plexus.dataDir, "plexus.db"));
    foreign.run("BEGIN IMMEDIATE");
    await expectRefusal(await plexus.fetch("/readyz", { token: null }), 503, "storage_unavailable");
    expect((await plexus.fetch("/healthz", { token: null })).status).toBe(200);
    foreign.run("ROLLBACK");
    expect((await plexus.fetch("/readyz", { token: null })).status).toBe(200);
  });
});
