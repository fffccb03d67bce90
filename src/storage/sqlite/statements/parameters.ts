import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A value that is given later, written as its column writes it; a bare placeholder would drop the column's encoder. */
export function given(name: string, column: SQLiteColumn): SQL {
  const encoded = sql.param<unknown, unknown>(sql.placeholder(name), column);
  // For a missing JSON value the encoder writes the text `null`, which is not the same as no value.
  return column.dataType === "json" && !column.notNull ? sql`nullif(${encoded}, 'null')` : sql`${encoded}`;
}
