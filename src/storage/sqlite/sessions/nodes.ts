import { asc, eq, gt, inArray, sql } from "drizzle-orm";
import type { NodeRow } from "../../sessions.ts";
import { inOneStep } from "../space.ts";
import type { Orm } from "../statements/orm.ts";
import { nodes } from "../tables.ts";

export type NodeQueries = ReturnType<typeof nodeQueries>;

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
  const nextTree = orm
    .select({ treeId: nodes.treeId })
    .from(nodes)
    .where(gt(nodes.treeId, at("treeId")))
    .orderBy(asc(nodes.treeId))
    .limit(1)
    .prepare();
  const sizes = orm
    .select({ id: nodes.id, bytes: sql<number>`octet_length(content)` })
    .from(nodes)
    .where(eq(nodes.treeId, at("treeId")))
    .limit(at("limit"))
    .prepare();

  const one = orm
    .select()
    .from(nodes)
    .where(eq(nodes.id, at("id")))
    .prepare();

  return {
    node: (id: string): NodeRow | undefined => one.get({ id }),
    add: (node: NodeRow): void => void insert.run(node),
    /** Returns the nodes in insertion order. */
    listTree: (treeId: string, limit: number): NodeRow[] =>
      orm.select().from(nodes).where(eq(nodes.treeId, treeId)).orderBy(asc(nodes.id)).limit(limit).all(),
    /** Returns the nodes from the root to this node. */
    path: (nodeId: string): NodeRow[] => {
      const ancestors = sql`id IN (
        WITH RECURSIVE up(id, parent_id) AS (
          SELECT id, parent_id FROM nodes WHERE id = ${nodeId}
          UNION ALL SELECT nodes.id, nodes.parent_id FROM nodes JOIN up ON nodes.id = up.parent_id
        ) SELECT id FROM up)`;
      return orm.select().from(nodes).where(ancestors).orderBy(asc(nodes.id)).all();
    },
    /** Returns the next tree id after this one. */
    treeAfter: (treeId: string): string | undefined => nextTree.get({ treeId })?.treeId,
    /** Deletes up to `limit` nodes of a tree; returns 0 when none are left. */
    removeSome: (treeId: string, limit: number): number => {
      const ids = inOneStep(sizes.all({ treeId, limit })).map(({ id }) => id);
      if (ids.length > 0) orm.delete(nodes).where(inArray(nodes.id, ids)).run();
      return ids.length;
    },
  };
}
