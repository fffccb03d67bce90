import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createSessionBounds } from "../../../src/core/sessions/bounds.ts";
import type { SessionSize } from "../../../src/storage/sqlite/sessions/sessions.ts";
import { addSessions, newConfig } from "../../storage/rows.ts";
import { OPERATOR, temporaryDomain } from "../open-core.ts";

const MOST: SessionSize = { count: 10, bytes: 1_000 };

describe("session bounds", () => {
  test("count what an owner has once, and again only at the bound, when something was removed", () => {
    let stored = 5;
    let counts = 0;
    const sizeOf = (): SessionSize => {
      counts++;
      return { count: stored, bytes: 0 };
    };
    const bounds = createSessionBounds({ sessions: { sizeOf } }, MOST);
    const admit = () => {
      stored++;
      try {
        bounds.admit({ owner: "one", config: null });
        return true;
      } catch {
        stored--;
        return false;
      }
    };
    expect(Array.from({ length: 100 }, admit).filter(Boolean)).toHaveLength(5);
    expect(counts).toBe(1);
    stored -= 2;
    bounds.loosen();
    expect(Array.from({ length: 100 }, admit).filter(Boolean)).toHaveLength(2);
    expect(counts).toBe(2);
  });

  test("count no session that could not be stored", async () => {
    await using domain = await temporaryDomain();
    addSessions(domain.dataDir, 9_999);
    using sqlite = new Database(join(domain.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER full BEFORE INSERT ON nodes BEGIN SELECT RAISE(ABORT, 'full'); END");
    const create = (name: string) => domain.sessions.createManaged(OPERATOR, name, newConfig());
    for (const name of ["a", "b"]) await expect(create(name)).rejects.toMatchObject({ code: "storage_unavailable" });
    sqlite.run("DROP TRIGGER full");
    expect((await create("a")).name).toBe("a");
    await expect(create("b")).rejects.toMatchObject({ code: "limit_reached" });
  });
});
