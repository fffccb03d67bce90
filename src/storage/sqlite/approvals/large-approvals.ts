import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";
import type { ApprovalRow } from "../../approvals.ts";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals } from "../tables.ts";

/** Spelled as in the partial index, which is used only then. */
const isLarge = sql`status <> 'pending' AND octet_length(input) + coalesce(octet_length(updated_input), 0) > 4096`;
/** Only an allow needs the input again, and only as long as somebody may come for it: a claude that was started by hand always may. */
const isOver = sql`(delivered_at IS NOT NULL OR status <> 'allowed' OR
  (asked_in <> session_id AND asked_in NOT IN (SELECT id FROM turns WHERE status = 'running')))`;

export type LargeApprovalQueries = ReturnType<typeof largeApprovalQueries>;

/** How large inputs of what is decided are removed, in steps, when space is short. */
export function largeApprovalQueries(orm: Orm) {
  const at = sql.placeholder;
  const large = orm
    .select({
      id: approvals.id,
      isBuiltin: approvals.isBuiltin,
      bytes: sql<number>`octet_length(input) + coalesce(octet_length(updated_input), 0)`,
    })
    .from(approvals)
    .where(
      and(
        eq(approvals.owner, at("owner")),
        lt(approvals.resolvedAt, at("before")),
        isLarge,
        isOver,
        // The chain has to say so.
        sql`audit_seq IS NOT NULL`,
      ),
    )
    .orderBy(asc(approvals.resolvedAt))
    .limit(at("limit"))
    .prepare();

  return {
    /** One owner's that are over, were decided before `before` and have a large input, the oldest first; as many as one step may cut. */
    listLarge: (owner: string, before: number, limit: number): Pick<ApprovalRow, "id" | "isBuiltin">[] =>
      inOneStep(large.all({ owner, before, limit })),
    /** Leaves `{}` where an input stood, and where an edited one did. */
    cutInputs: (ids: string[], cutAt: number): void => {
      orm
        .update(approvals)
        .set({
          input: {},
          updatedInput: sql`CASE WHEN updated_input IS NULL THEN NULL ELSE '{}' END`,
          inputCutAt: cutAt,
        })
        .where(inArray(approvals.id, ids))
        .run();
    },
  };
}
