import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../src/contract/refusals/errors.ts";
import { DOOR_HEADER } from "../../src/contract/refusals/ways.ts";
import { startPlexus } from "../support/server/plexus.ts";

setDefaultTimeout(60_000);

const ABSENT = "00000000-0000-7000-8000-000000000000";
const TOOL = /\b(?:loopback|claudecode)_[a-z]/;
const ROUTE = /\b(?:GET|POST|PATCH|DELETE) \/api/;
const COMMAND = /`plexus /;
/** For each interface, the names that its refusals use, and those that only others use. */
const DOORS = [
  ["mcp", TOOL, [ROUTE, COMMAND]],
  ["rest", ROUTE, [TOOL, COMMAND]],
  ["terminal", COMMAND, [TOOL, ROUTE]],
  ["page", undefined, [TOOL, ROUTE, COMMAND]],
] as const;
type DoorName = (typeof DOORS)[number][0];

/**
 * The refusals at an interface for decisions on approvals that don't exist, alone and in a batch, and for a call
 * without a session.
 */
async function refusalsAt(door: DoorName): Promise<string[]> {
  await using plexus = await startPlexus();
  const decision = { approve: true };
  if (door === "mcp") {
    const client = await plexus.connect();
    const one = await client.call("loopback_respond", { approval_id: ABSENT, ...decision });
    const many = await client.call("loopback_respond", { decisions: [{ approval_id: ABSENT, ...decision }] });
    const session = await client.call("claudecode_get", { name: "absent" });
    const child = { name: "a", prompt: "go", working_dir: plexus.dataDir };
    const several = await client.call("claudecode_run", { children: [child], wait_secs: 0 });
    expect(several.value["message"]).toContain("--workspace");
    return [one.value["message"], Object(many.value["results"])[0].message, session.value["message"]].map(String);
  }
  const headers = door === "rest" ? {} : { [DOOR_HEADER]: door };
  const ask = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return Object(await (await plexus.fetch(`/api/v1/${path}`, { headers, ...sent })).json());
  };
  const one = await ask(`approvals/${ABSENT}/respond`, decision);
  const many = await ask("approvals/respond", { decisions: [{ approval_id: ABSENT, ...decision }] });
  const session = await ask("sessions/absent");
  return [one.error.message, many.results[0].message, session.error.message];
}

describe("a refusal says what to do", () => {
  test.each(DOORS)("at the interface %s with its own names only", async (door, own, others) => {
    for (const message of await refusalsAt(door)) {
      if (own) expect(message).toMatch(own);
      for (const other of others) expect(message).not.toMatch(other);
    }
  });

  test("without any interface's names if it is stored, because any interface may read it", () => {
    const error = new AppError("limit_reached", (by) => `Delete some${by.remove}, then try again.`);
    expect(error.message).toBe("Delete some, then try again.");
    expect(error.toldBy("mcp")).toBe("Delete some (claudecode_delete), then try again.");
  });

  test("through the list of ways alone: no text of the core names a tool, a route or a command", () => {
    const core = join(import.meta.dir, "../../src/core");
    const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const named = files.flatMap((file) =>
      readFileSync(join(core, file), "utf8")
        .split("\n")
        .filter((line) => /["'`]/.test(line) && !/^import |^ *(?:\/\*\*|\*|\/\/)/.test(line))
        .filter((line) => /\bloopback_(?!enabled|timeout_secs)|\bclaudecode_|\/api\/v1|\\`plexus /.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    // This is a log message, which the operator reads.
    expect(named.filter((line) => !line.startsWith("upkeep/audit-upkeep.ts"))).toEqual([]);
  });
});
