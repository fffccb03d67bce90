import { Database } from "bun:sqlite";
import { migrate } from "../../../../src/storage/sqlite/migrations.ts";
import { createOrm } from "../../../../src/storage/sqlite/statements/orm.ts";

/** An in-memory database that reports the query plans of statements. */
export function openPlans() {
  const sqlite = new Database(":memory:");
  migrate(sqlite);
  const statements: { text: string; parameters: number }[] = [];
  const onRun = (text: string, parameters: unknown[]) => void statements.push({ text, parameters: parameters.length });
  const orm = createOrm(sqlite, { onRun });
  return {
    sqlite,
    orm,
    /** Each statement that `work` runs, with its plan. */
    plansOf(work: () => unknown): { text: string; plan: string }[] {
      statements.length = 0;
      work();
      return statements.splice(0).map(({ text, parameters }) => {
        using explained = sqlite.prepare<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${text}`);
        const steps = explained.all(...Array.from({ length: parameters }, () => null));
        return { text, plan: steps.map(({ detail }) => detail).join("; ") };
      });
    },
  };
}
