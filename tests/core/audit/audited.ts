import { Database, type SQLQueryBindings } from "bun:sqlite";
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { AuditReport } from "../../../src/contract/audit.ts";
import { allow, type CoreOptions, deny, edit, OPERATOR, temporaryCore } from "../open-core.ts";

export const DAY_MS = 86_400_000;
export type TestCore = Awaited<ReturnType<typeof temporaryCore>>;

/** A core with one decision of every kind. */
export async function decidedCore(options: CoreOptions = {}): Promise<TestCore> {
  const core = await temporaryCore({ builtinRule: readsAlone, ...options });
  await decideAll(core);
  return core;
}

export async function decideAll(core: TestCore): Promise<void> {
  const session = await core.session();
  const ask = async (input: object, toolUseId?: string) => core.ask(session, { input: { ...input }, toolUseId });
  using allowed = await ask({ command: "one" });
  await core.approvals.decide(OPERATOR, allowed.approvalId, allow);
  using denied = await ask({ command: "two" });
  await core.approvals.decide(OPERATOR, denied.approvalId, deny("no"));
  using edited = await ask({ command: "three" });
  await core.approvals.decide(OPERATOR, edited.approvalId, edit({ command: "four" }));
  using expired = await core.ask({ ...session, loopbackTimeoutSecs: 0 });
  await core.approvals.expire();
  expect((await core.approvals.get(OPERATOR, expired.approvalId)).status).toBe("timed_out");
  const left = await ask({ command: "five" }, "late");
  left[Symbol.dispose]();
  await core.approvals.decide(OPERATOR, left.approvalId, allow);
  using late = await ask({ command: "five" }, "late");
  expect(await late.answer()).toMatchObject({ behavior: "allow" });
  for (const file_path of ["a", "b"]) await core.ask(session, { tool: "Read", input: { file_path } });
}

export function readsAlone(_: unknown, { tool_name }: { tool_name: string }): string | undefined {
  return tool_name === "Read" ? "read" : undefined;
}

export async function listed(core: TestCore, withBuiltin: boolean): Promise<string[]> {
  return (await core.approvals.list(OPERATOR, { limit: 1_000, withBuiltin })).approvals.map(({ id }) => id);
}

export function tamper({ dataDir }: TestCore, sql: string, ...values: SQLQueryBindings[]): void {
  using sqlite = new Database(join(dataDir, "plexus.db"));
  expect(sqlite.run(sql, values).changes).toBeGreaterThan(0);
}

/** Appends an entry with a valid hash, like Plexus. */
export function forge(core: TestCore, said: object, at: number, approvalId: string | null = null): void {
  using sqlite = new Database(join(core.dataDir, "plexus.db"));
  const tail = sqlite
    .query<{ seq: number; hash: string }, []>("SELECT seq, hash FROM audit WHERE chain='decisions' ORDER BY seq DESC")
    .get();
  const entry = JSON.stringify(said);
  const hash = createHash("sha256").update(`${tail?.hash}\n${entry}`).digest("hex");
  sqlite.run("INSERT INTO audit (chain, seq, approval_id, at, entry, hash) VALUES ('decisions', ?, ?, ?, ?, ?)", [
    (tail?.seq ?? 0) + 1,
    approvalId,
    at,
    entry,
    hash,
  ]);
}

export function textOf({ problems }: AuditReport): string {
  return problems.map(({ problem }) => problem).join("; ");
}

export async function foundIn(core: TestCore): Promise<{ intact: boolean; problems: string }> {
  const report = await core.auditCheck.verify();
  return { intact: report.intact, problems: textOf(report) };
}

export const found = (problem: string) => ({ intact: false, problems: expect.stringContaining(problem) });

export const INTACT = { intact: true, problems: "" };
