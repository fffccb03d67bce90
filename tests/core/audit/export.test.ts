import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { AuditLine, AuditProblem } from "../../../src/contract/audit.ts";
import { createExportCheck } from "../../../src/core/audit/export.ts";
import { decidedCore } from "./audited.ts";

const ID = "01999999-0000-7000-8000-000000000001";

/** Everything that is decided in the test of the chains, as it is exported. */
const lines = await (async () => {
  await using core = await decidedCore();
  return await Array.fromAsync(core.auditCheck.export());
})();
const decisions = lines.filter(({ chain }) => chain === "decisions");
const builtin = lines.filter(({ chain }) => chain === "builtin");

/** What is wrong with an export, chain by chain. */
function problemsIn(exported: AuditLine[]): string[] {
  const problems: AuditProblem[] = [];
  const report = (problem: AuditProblem) => void problems.push(problem);
  const checks = { decisions: createExportCheck("decisions", report), builtin: createExportCheck("builtin", report) };
  for (const line of exported) checks[line.chain].next(line);
  for (const check of Object.values(checks)) check.finish();
  return problems.map(({ problem }) => problem);
}

/** The line that somebody who can only append would write. */
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
    ["is as it was made", lines],
    ["has its chains in another order", [...builtin, ...decisions]],
    ["has its chains mixed", lines.toSorted((a, b) => a.seq - b.seq)],
    ["has one chain alone", decisions],
    ["lacks its end, which nobody can tell who does not know it", decisions.slice(0, -1)],
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
      "tells of the delivery of a decision that was delivered as it was made",
      [...builtin, behind(last(builtin), { kind: "delivered", approval_id: idIn(last(builtin)), delivered_at: 1 })],
      "it was delivered twice",
    ],
    [
      "tells of the delivery of a decision that it lacks",
      [...decisions, behind(last(decisions), { kind: "delivered", approval_id: ID, delivered_at: 1 })],
      "a decision was delivered that the chain does not have",
    ],
  ])("is refused when it %s", (_, exported, problem) => {
    expect(problemsIn(exported)).toContain(problem);
  });

  test("fits when retention forgot more while it was made, or a decision whose delivery is left", () => {
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
