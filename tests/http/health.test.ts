import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startPlexus } from "../support/plexus.ts";
import { expectRefusal } from "./callers.ts";

describe("/healthz and /readyz", () => {
  test("say that the server is alive and ready", async () => {
    await using plexus = await startPlexus();
    expect(await (await plexus.fetch("/healthz")).json()).toEqual({ status: "ok" });
    expect((await plexus.fetch("/readyz")).status).toBe(200);
  });

  test("warn where claude is missing, and are ready all the same", async () => {
    await using plexus = await startPlexus({ flags: { claude: "/nowhere/claude" } });
    const response = await plexus.fetch("/readyz");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "ready",
      claude: null,
      warnings: [expect.stringContaining("claude")],
    });
  });

  test("tell a server that can't write from one that is dead", async () => {
    await using plexus = await startPlexus();
    using foreign = new Database(join(plexus.dataDir, "plexus.db"));
    foreign.run("BEGIN IMMEDIATE");
    await expectRefusal(await plexus.fetch("/readyz", { token: null }), 503, "storage_unavailable");
    expect((await plexus.fetch("/healthz", { token: null })).status).toBe(200);
    foreign.run("ROLLBACK");
    expect((await plexus.fetch("/readyz", { token: null })).status).toBe(200);
  });
});
