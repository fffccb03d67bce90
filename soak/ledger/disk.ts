import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ApprovalStatus } from "../../src/contract/approvals/approval.ts";
import { ChangeKind } from "../../src/contract/change.ts";
import { JsonObject } from "../../src/contract/values.ts";

const json = z.string().transform((text): unknown => JSON.parse(text));

const Row = z.object({
  id: z.string(),
  session_id: z.string(),
  tool_use_id: z.string().nullable(),
  input: json.pipe(JsonObject),
  status: ApprovalStatus,
  response_message: z.string().nullable(),
  updated_input: json.pipe(JsonObject).nullable(),
  interrupt: z.int().transform((value) => value === 1),
  created_at: z.int(),
  expires_at: z.int(),
  resolved_at: z.int().nullable(),
  resolved_by: z.string().nullable(),
  delivered_at: z.int().nullable(),
});
export type Row = z.infer<typeof Row>;

const ChangeRow = z.object({
  id: z.int(),
  kind: ChangeKind.extract(["approval_requested", "approval_resolved"]),
  owner: z.string(),
  approval_id: z.string(),
});
export type ChangeRow = z.infer<typeof ChangeRow>;

export type Disk = {
  /** Returns the approval as it is committed now. */
  row(id: string): Row | undefined;
  /** Returns the pending approvals. */
  pending(): Row[];
  /** Returns the changes after this id, in order, that watchers must get. */
  changesAfter(id: number): ChangeRow[];
  integrity(): string;
  /**
   * Call before a server starts: SQLite's recovery must happen in the server, which another open reader would prevent.
   */
  close(): void;
};

/** Reads plexus.db from outside, read-only; opens it at the first use. */
export function createDisk(dataDir: string): Disk {
  const path = join(dataDir, "plexus.db");
  let opened: Database | undefined;
  const database = () => {
    if (opened) return opened;
    opened = new Database(path, { readonly: true });
    opened.run("PRAGMA busy_timeout = 2000");
    return opened;
  };
  return {
    row: (id) =>
      Row.optional().parse(database().query("SELECT * FROM loopback_approvals WHERE id = ?").get(id) ?? undefined),
    pending: () =>
      Row.array().parse(database().query("SELECT * FROM loopback_approvals WHERE status = 'pending'").all()),
    changesAfter: (id) =>
      ChangeRow.array().parse(
        database()
          .query("SELECT id, kind, owner, subject_id AS approval_id FROM changes WHERE id > ? ORDER BY id")
          .all(id),
      ),
    integrity() {
      if (!existsSync(path)) return "ok";
      const rows = z
        .array(z.object({ integrity_check: z.string() }))
        .parse(database().query("PRAGMA integrity_check").all());
      return rows.map(({ integrity_check }) => integrity_check).join("; ");
    },
    close() {
      opened?.close(true);
      opened = undefined;
    },
  };
}
