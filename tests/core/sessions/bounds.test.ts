import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { newConfig } from "../../storage/rows.ts";
import { addSessions } from "../../storage/sqlite/support/sqlite-rows.ts";
import { OPERATOR, temporaryCore } from "../open-core.ts";

describe("session bounds", () => {
  test("do not count a session that could not be stored", async () => {
    await using core = await temporaryCore();
    addSessions(core.dataDir, 9_999);
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER full BEFORE INSERT ON nodes BEGIN SELECT RAISE(ABORT, 'full'); END");
    const create = (name: string) => core.sessions.createManaged(OPERATOR, name, newConfig(), () => []);
    for (const name of ["a", "b"]) await expect(create(name)).rejects.toMatchObject({ code: "storage_unavailable" });
    sqlite.run("DROP TRIGGER full");
    expect((await create("a")).name).toBe("a");
    await expect(create("b")).rejects.toMatchObject({ code: "limit_reached" });
  });
});
