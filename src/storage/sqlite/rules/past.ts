import { and, desc, eq, isNull, sql } from "drizzle-orm";
import type { NewOutline, PastInput, PastQuery, PastRequest } from "../../past.ts";
import { recordQueries } from "../approvals/approval-record-pages.ts";
import type { Orm } from "../statements/orm.ts";
import { approvals, callOutlines } from "../tables.ts";

/** Any number of them in one parameter. */
const AMONG = sql`${approvals.id} IN (SELECT value FROM json_each(${sql.placeholder("ids")}))`;

/** Queries on what was asked before; what writes is called inside a transaction of the writer. */
export function pastQueries(orm: Orm) {
  const at = sql.placeholder;
  const record = recordQueries(orm);
  const inputs = orm.select({ id: approvals.id, inputText: sql<string>`input` }).from(approvals).where(AMONG).prepare();
  const isUncut = orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(eq(approvals.id, at("id")), isNull(approvals.inputCutAt)))
    .prepare();
  const keep = orm
    .insert(callOutlines)
    .values({ id: at("id"), outlineKey: at("outlineKey"), outline: at("outline") })
    .onConflictDoUpdate({
      target: callOutlines.id,
      set: { outlineKey: sql`excluded.outline_key`, outline: sql`excluded.outline` },
    })
    .prepare();

  return {
    list: (query: PastQuery): PastRequest[] =>
      orm
        .select({
          id: approvals.id,
          sessionId: approvals.sessionId,
          toolName: approvals.toolName,
          status: approvals.status,
          resolvedBy: approvals.resolvedBy,
          outline: callOutlines.outline,
          outlineKey: callOutlines.outlineKey,
        })
        .from(approvals)
        .leftJoin(callOutlines, eq(callOutlines.id, approvals.id))
        .where(record.past(query))
        .orderBy(desc(approvals.id))
        .limit(query.limit)
        .all(),
    inputs: (ids: string[]): PastInput[] => (ids.length === 0 ? [] : inputs.all({ ids: JSON.stringify(ids) })),
    keepOutlines(outlines: NewOutline[]): void {
      for (const { id, outlineKey, outline } of outlines)
        if (isUncut.get({ id }) !== undefined) keep.run({ id, outlineKey, outline });
    },
  };
}
