import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { RuleDecision } from "../../../src/contract/rules/rule.ts";
import type { Principal } from "../../../src/core/access/principals.ts";
import { ANY_RULES, newRule, newToken } from "../../storage/rows.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { OPERATOR, temporaryCore } from "../open-core.ts";

const CALLS = ["mcp__notes__read", "mcp__notes__write", "mcp__mail__read"];
/** The meaning of each pattern, written independently of the matcher. */
const MATCHES: Record<string, RegExp> = {
  mcp__notes__read: /^mcp__notes__read$/,
  "mcp__notes__*": /^mcp__notes__/,
  mcp__notes: /^mcp__notes__/,
  mcp__mail__read: /^mcp__mail__read$/,
  "mcp__*": /^mcp__/,
  "*": /^/,
};
/** These name no server: a deny rule finds every tool with them, and an allow rule covers no MCP tool. */
const UNPROVEN = ["mcp__*", "*"];
const OWNERS = ["operator", "token:a", "token:b"] as const;
const SESSIONS = ["operator", "token:a", "token:a", "token:b"] as const;

type GivenRule = {
  decision: RuleDecision;
  match: string;
  tier: { owner: (typeof OWNERS)[number] | null; session: number | null } | "file";
  madeBy: (typeof OWNERS)[number];
  isShadow: boolean;
  createdAt: number;
};

const rule: fc.Arbitrary<GivenRule> = fc.record({
  decision: fc.constantFrom("allow", "deny", "ask"),
  match: fc.constantFrom(...Object.keys(MATCHES)),
  tier: fc.oneof(
    fc.constant("file" as const),
    fc.constantFrom(null, ...OWNERS).map((owner) => ({ owner, session: null })),
    fc.nat(SESSIONS.length - 1).map((session) => ({ owner: SESSIONS[session] ?? null, session })),
  ),
  madeBy: fc.constantFrom(...OWNERS),
  isShadow: fc.nat(4).map((one) => one === 0),
  createdAt: fc.nat(10_000),
});

test("the strictest rule that holds in a session decides, of whatever tier, age or place in the list", async () => {
  await using directory = await temporaryDirectory();
  const rulesFile = join(directory.path, "rules.toml");
  writeFileSync(rulesFile, "");
  await using core = await temporaryCore({ rulesFile });
  for (const id of ["a", "b"]) await core.storage.tokens.createIfNameFree(newToken({ id, name: id }));
  const principalOf = (owner: string): Principal =>
    owner === "operator" ? OPERATOR : { kind: "token", id: owner.slice(-1), name: owner.slice(-1) };
  const sessions = await Promise.all(
    SESSIONS.map((owner, at) => core.sessions.createByHand(principalOf(owner), `session-${at}`)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 7 }),
      fc.nat(SESSIONS.length - 1),
      fc.constantFrom(...CALLS),
      async (rules, at, tool) => {
        const session = sessions[at];
        if (!session) throw new Error("no session");
        for (const { id } of (await core.storage.rules.book()).rules)
          await core.storage.rules.removeIfMade(id, undefined);
        const inFile = rules.filter(({ tier }) => tier === "file");
        writeFileSync(rulesFile, inFile.map(asToml).join("\n"));
        const stored = rules.flatMap(({ tier, madeBy, isShadow, ...one }) =>
          tier === "file"
            ? []
            : newRule({
                ...one,
                id: core.storage.newId(),
                mode: isShadow ? "shadow" : "live",
                owner: tier.owner,
                sessionId: tier.session === null ? null : (sessions[tier.session]?.id ?? null),
                createdBy: madeBy,
              }),
        );
        await Promise.all(stored.map((one) => core.storage.rules.addIfNew(one, ANY_RULES)));

        const holding = rules.filter(
          ({ decision, tier, match, isShadow }) =>
            !isShadow &&
            !(decision === "allow" && UNPROVEN.includes(match)) &&
            MATCHES[match]?.test(tool) &&
            (tier === "file" ||
              ((tier.owner === null || tier.owner === session.owner) &&
                (tier.session === null || tier.session === at))),
        );
        const wanted = (["deny", "ask", "allow"] as const).find((one) =>
          holding.some(({ decision }) => decision === one),
        );
        const status = ({ deny: "denied", ask: "pending", allow: "allowed" } as const)[wanted ?? "ask"];
        using asked = await core.ask(session, { tool, input: {} });
        const row = await core.storage.approvals.get(asked.approvalId);
        expect(row?.status).toBe(status);
        if (row?.status === "pending") await core.approvals.abandon([asked.approvalId], "asked");
        else expect(row?.resolvedBy).toStartWith("rule:");
      },
    ),
    { numRuns: 150 },
  );
}, 120_000);

function asToml({ decision, match, isShadow }: GivenRule): string {
  return `[[rule]]\ndecision = "${decision}"\nmatch = "${match}"\nshadow = ${isShadow}\n`;
}
