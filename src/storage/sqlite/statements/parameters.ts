import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A placeholder whose value goes through its column's encoder, which a bare placeholder would skip. */
export function given(name: string, column: SQLiteColumn): SQL {
  const encoded = sql.param<unknown, unknown>(sql.placeholder(name), column);
  // The encoder writes the text `null` for a missing JSON value; the column must get NULL instead.
  return column.dataType === "json" && !column.notNull ? sql`nullif(${encoded}, 'null')` : sql`${encoded}`;
}
