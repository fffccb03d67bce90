import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import type { EndedTurn } from "./family.ts";
import { eventsOf, textOf } from "./told-events.ts";

/** Checks that a turn reported everything that its child said and requested, each once, and how it ended. */
export function expectWhole(turn: EndedTurn, { text, calls }: { text: string; calls: string[] }): void {
  const { events } = turn;
  expect(textOf(events)).toBe(text);
  expect(eventsOf(events, "tool_use").map(({ tool_use_id }) => tool_use_id)).toEqual(calls);
  expect(eventsOf(events, "tool_result").map(({ tool_use_id }) => tool_use_id)).toEqual(calls);
  expect(events.filter(({ type }) => type === "start" || type === "complete" || type === "error")).toEqual([
    expect.objectContaining({ type: "start" }),
    expect.objectContaining({ type: "complete" }),
  ]);
  expect([turn.status, turn.last?.type]).toEqual(["complete", "complete"]);
}

/** The model's last words when all calls succeeded with this result. */
export function report(results: Record<string, string>): string {
  const reported = Object.entries(results).map(([tool_use_id, content]) => ({ tool_use_id, is_error: false, content }));
  return `results: ${JSON.stringify(reported)}`;
}

/** Checks that a turn left nothing but its events: no file, no token, no pending request. */
export async function expectTidy({ dataDir }: { dataDir: string }): Promise<void> {
  await until("the files of the turns to go", () => readdirSync(join(dataDir, "turns")).length === 0);
  using db = new Database(join(dataDir, "plexus.db"), { readonly: true });
  expect(db.query("SELECT session_id FROM tokens WHERE kind = 'child'").all()).toEqual([]);
  expect(db.query("SELECT id FROM loopback_approvals WHERE status = 'pending'").all()).toEqual([]);
}

/** The calls of a session that needed approval, from its approvals. */
export function askedFor({ dataDir }: { dataDir: string }, sessionId: string): string[] {
  using db = new Database(join(dataDir, "plexus.db"), { readonly: true });
  const rows = db
    .query<{ tool_use_id: string }, [string]>(
      "SELECT tool_use_id FROM loopback_approvals WHERE session_id = ? AND is_builtin = 0 ORDER BY id",
    )
    .all(sessionId);
  return rows.map(({ tool_use_id }) => tool_use_id);
}
