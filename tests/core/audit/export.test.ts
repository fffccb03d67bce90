import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { AuditLine, AuditProblem } from "../../../src/contract/audit.ts";
import { createExportCheck } from "../../../src/core/audit/export.ts";
import { decidedCore } from "./audited.ts";

const ID = "01999999-0000-7000-8000-000000000001";

/** The export of a core with one decision of every kind. */
const lines = await (async () => {
  await using core = await decidedCore();
  return await Array.fromAsync(core.auditCheck.export());
})();
const decisions = lines.filter(({ chain }) => chain === "decisions");
const builtin = lines.filter(({ chain }) => chain === "builtin");

/** The problems of an export. */
function problemsIn(exported: AuditLine[]): string[] {
  const problems: AuditProblem[] = [];
  const report = (problem: AuditProblem) => void problems.push(problem);
  const checks = { decisions: createExportCheck("decisions", report), builtin: createExportCheck("builtin", report) };
  for (const line of exported) checks[line.chain].next(line);
  for (const check of Object.values(checks)) check.finish();
  return problems.map(({ problem }) => problem);
}

/** The line that an attacker who can only append would write. */
function behind({ chain, seq, hash: previous }: AuditLine, said: object | string): AuditLine {
  const entry = typeof said === "string" ? said : JSON.stringify(said);
  const hash = createHash("sha256").update(`${previous}\n${entry}`).digest("hex");
  return { chain, seq: seq + 1, previous, entry, hash };
}

function last(of: AuditLine[]): AuditLine {
  const line = of.at(-1);
  if (!line) throw new Error("there is no line");
  return line;
}

describe("an export", () => {
  test.each([
    ["is unchanged", lines],
    ["has its chains in another order", [...builtin, ...decisions]],
    ["has its chains mixed", lines.toSorted((a, b) => a.seq - b.seq)],
    ["has one chain alone", decisions],
    ["lacks its end, which only somebody who knows the end can notice", decisions.slice(0, -1)],
  ])("fits when it %s", (_, exported) => {
    expect(problemsIn(exported)).toEqual([]);
  });

  test.each<[string, AuditLine[], string]>([
    ["lacks a line", lines.filter((_, index) => index !== 2), "the entries from 2 to 2 are missing"],
    ["has a line twice", [...decisions.slice(0, 2), ...decisions.slice(1)], "it stands behind entry 1"],
    ["lacks its front", decisions.slice(3), "what stood before this entry was not forgotten by Plexus"],
    [
      "has another entry",
      lines.map((line) => ({ ...line, entry: line.entry.replace('"denied"', '"allowed"') })),
      "its hash does not fit: the entry was changed",
    ],
    [
      "has an entry that says two things",
      [...decisions, behind(last(decisions), last(builtin).entry.replace("{", '{"status":"denied",'))],
      "it is no entry that this version of Plexus writes",
    ],
    [
      "delivers a decision again that was delivered when it was made",
      [...builtin, behind(last(builtin), { kind: "delivered", approval_id: idIn(last(builtin)), delivered_at: 1 })],
      "it was delivered twice",
    ],
    [
      "delivers a decision that it lacks",
      [...decisions, behind(last(decisions), { kind: "delivered", approval_id: ID, delivered_at: 1 })],
      "a decision was delivered that the chain does not have",
    ],
  ])("is refused when it %s", (_, exported, problem) => {
    expect(problemsIn(exported)).toContain(problem);
  });

  test("fits if retention removed more during the export, or a decision but not its delivery", () => {
    const [cut, later] = [decisions[4], decisions[5]];
    if (!cut || !later) throw new Error("there are too few entries");
    const at = 1_700_000_000_000;
    const forgotten = ({ seq, hash }: AuditLine) => ({
      kind: "forgotten",
      at,
      through_seq: seq,
      through_hash: hash,
      chained_since: at,
      unchained: 0,
    });
    const once = behind(last(decisions), forgotten(cut));
    const rest = [...decisions.slice(5), once];
    expect(problemsIn(rest)).toEqual([]);
    expect(problemsIn([...rest, behind(once, forgotten(later))])).toEqual([]);
    expect(problemsIn([...decisions.slice(6), once])).toEqual([
      "what stood before this entry was not forgotten by Plexus",
    ]);
    const [, ...unlinked] = rest;
    expect(problemsIn(unlinked)).not.toEqual([]);
  });
});

function idIn({ entry }: AuditLine): string {
  return JSON.parse(entry).approval_id;
}
