import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { mcpClientQueries } from "../../../../src/storage/sqlite/access/mcp-clients.ts";
import { tokenQueries } from "../../../../src/storage/sqlite/access/tokens.ts";
import { type AskedApproval, approvalQueries } from "../../../../src/storage/sqlite/approvals/approvals.ts";
import { largeApprovalQueries } from "../../../../src/storage/sqlite/approvals/large-approvals.ts";
import { pendingSizeQueries } from "../../../../src/storage/sqlite/approvals/pending-sizes.ts";
import { unchainedApprovalQueries } from "../../../../src/storage/sqlite/approvals/unchained-approvals.ts";
import { usedApprovalQueries } from "../../../../src/storage/sqlite/approvals/used-approvals.ts";
import { auditQueries } from "../../../../src/storage/sqlite/audit/audit.ts";
import { openDatabase } from "../../../../src/storage/sqlite/database.ts";
import { changeQueries } from "../../../../src/storage/sqlite/events/changes.ts";
import { nodeQueries } from "../../../../src/storage/sqlite/sessions/nodes.ts";
import { sessionQueries } from "../../../../src/storage/sqlite/sessions/sessions.ts";
import { spaceQueries } from "../../../../src/storage/sqlite/space.ts";
import { createOrm } from "../../../../src/storage/sqlite/statements/orm.ts";
import * as tables from "../../../../src/storage/sqlite/tables.ts";
import { turnQueries } from "../../../../src/storage/sqlite/turns/turns.ts";
import { historySizeQueries } from "../../../../src/storage/sqlite/upkeep/history-sizes.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

export type Direct = ReturnType<typeof openDirect>;

/** The engine's queries over a separate connection, for rows that no command would write. */
export function openDirect(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const sqlite = openDatabase(join(dataDir, "plexus.db"));
  const orm = createOrm(sqlite);
  const approvals = approvalQueries(orm);
  return {
    sqlite,
    approvals: {
      ...approvals,
      ...usedApprovalQueries(orm),
      ...unchainedApprovalQueries(orm),
      ...largeApprovalQueries(orm),
      create: (approval: AskedApproval, heldBy: string | null = null) => approvals.create(approval, heldBy),
    },
    pendingSizes: pendingSizeQueries(sqlite),
    turns: turnQueries(orm, orm.select().from(tables.dataDir).get()?.id ?? ""),
    sessions: sessionQueries(orm, sqlite, true),
    nodes: nodeQueries(orm),
    changes: changeQueries(orm, sqlite),
    mcpClients: mcpClientQueries(orm),
    tokens: tokenQueries(orm, sqlite, false),
    audit: auditQueries(orm, sqlite),
    space: spaceQueries(sqlite),
    historySizes: historySizeQueries(sqlite),
    /** Runs the work in one transaction. */
    write: <T>(work: () => T): T => sqlite.transaction(work)(),
    [Symbol.dispose]: () => sqlite.close(true),
  };
}

/** The same on a data dir that is deleted with it; its `write` returns a promise, as the writer's does. */
export async function temporaryDirect() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const { [Symbol.dispose]: _, ...direct } = stack.use(openDirect(directory.path));
  const owned = stack.move();
  const write = async <T>(work: () => T): Promise<T> => direct.write(work);
  return { ...direct, write, dataDir: directory.path, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
export type TemporaryDirect = Awaited<ReturnType<typeof temporaryDirect>>;
