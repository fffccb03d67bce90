import { asc, eq, sql } from "drizzle-orm";
import type { Orm } from "./database.ts";
import { nodes } from "./tables.ts";

export type NodeRow = typeof nodes.$inferSelect;

export function nodeQueries(orm: Orm) {
  const at = sql.placeholder;
  const insert = orm
    .insert(nodes)
    .values({
      id: at("id"),
      treeId: at("treeId"),
      parentId: at("parentId"),
      role: at("role"),
      content: at("content"),
      createdAt: at("createdAt"),
    })
    .prepare();

  return {
    add: (node: NodeRow): void => void insert.run(node),
    /** In the order in which they were added. */
    listTree: (treeId: string, limit: number): NodeRow[] =>
      orm.select().from(nodes).where(eq(nodes.treeId, treeId)).orderBy(asc(nodes.id)).limit(limit).all(),
    /** From the root to this node. */
    path: (nodeId: string): NodeRow[] => {
      const ancestors = sql`id IN (
        WITH RECURSIVE up(id, parent_id) AS (
          SELECT id, parent_id FROM nodes WHERE id = ${nodeId}
          UNION ALL SELECT nodes.id, nodes.parent_id FROM nodes JOIN up ON nodes.id = up.parent_id
        ) SELECT id FROM up)`;
      return orm.select().from(nodes).where(ancestors).orderBy(asc(nodes.id)).all();
    },
    removeTree: (treeId: string): void => void orm.delete(nodes).where(eq(nodes.treeId, treeId)).run(),
  };
}
