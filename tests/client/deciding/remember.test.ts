import { describe, expect, test } from "bun:test";
import { createApi } from "../../../src/client/api.ts";
import { createRemembering, offeredFor, rememberOf, whyNotRemembered } from "../../../src/client/deciding/remember.ts";
import { until } from "../../support/until.ts";
import { approval, idOf } from "../requests.ts";

const words = { unreachable: () => "away", noPlexus: () => "no Plexus", otherVersion: () => "another version" };
const REQUEST = { ...approval(1), suggested_rule: "Bash(echo *)" };

/** How the server answers for edited commands. */
const OFFERS: Record<string, object> = {
  "touch b": { would_be: "ask", suggested_rule: "Bash(touch *)" },
  "touch $X": { would_be: "ask", no_rule: "no rule can allow it" },
  ls: { would_be: "allow", by: "builtin:bash" },
  "npm test": { would_be: "allow", by: "rule:1", match: "Bash(npm *)" },
};

/** Records the tested rules, and answers by what the rule matches. */
function remembering() {
  const tried: object[] = [];
  const api = createApi({
    server: () => ({ url: "http://plexus", token: undefined }),
    fetch: async (_, { body }) => {
      const rule = JSON.parse(String(body));
      tried.push(rule);
      if (rule.input)
        return Response.json({
          type: "ok",
          decided: 0,
          contradictions: [],
          has_more: false,
          ...OFFERS[rule.input.command],
        });
      if (rule.match === "(")
        return Response.json(
          { error: { code: "invalid_arguments", message: "match is no pattern." } },
          { status: 400 },
        );
      return Response.json({ type: "ok", decided: rule.match.length, contradictions: [], has_more: false, tested: 50 });
    },
    words,
  });
  const state = createRemembering({ api, pauseMs: 1 });
  const trial = (kind: string) =>
    until(`the trial to be ${kind}`, () => state.current()?.trial.kind === kind && state.current()?.trial);
  return { api, state, tried, trial };
}

describe("a rule that is about to be created", () => {
  test("begins with the suggestion, for the session, and shows what it would have decided there", async () => {
    const { state, tried, trial } = remembering();
    state.begin(REQUEST);
    expect(state.current()).toMatchObject({ match: "Bash(echo *)", scope: "session", trial: { kind: "trying" } });
    expect(await trial("tried")).toMatchObject({ tested: { decided: 12, tested: 50 } });
    expect(tried).toEqual([{ decision: "allow", match: "Bash(echo *)", session_id: "session" }]);
  });

  test("is tested again when its match or its scope changes", async () => {
    const { state, tried, trial } = remembering();
    state.begin(REQUEST);
    state.setMatch("Bash(echo 1)");
    state.setMatch("Bash(echo 12)");
    state.setScope("always");
    expect(await trial("tried")).toMatchObject({ tested: { decided: 13 } });
    expect(tried.at(-1)).toEqual({ decision: "allow", match: "Bash(echo 12)" });
    expect(rememberOf(state.current() ?? { match: "", scope: "session" })).toEqual({
      scope: "always",
      match: "Bash(echo 12)",
    });
  });

  test("shows the server's message if its match is refused", async () => {
    const { state, trial } = remembering();
    state.begin(REQUEST);
    state.setMatch("(");
    expect(await trial("refused")).toEqual({ kind: "refused", reason: "match is no pattern." });
  });

  test("has nothing to test or to remember without a suggestion, until a match is written", async () => {
    const { state, tried, trial } = remembering();
    state.begin(approval(1), "deny");
    expect(state.current()).toMatchObject({ match: "", trial: { kind: "none" } });
    expect(rememberOf({ match: " ", scope: "session" })).toBeUndefined();
    state.setMatch("Bash(echo)");
    await trial("tried");
    expect(tried).toEqual([{ decision: "deny", match: "Bash(echo)", session_id: "session" }]);
  });

  test("for an edited request begins with the suggestion for the edited input", async () => {
    const { api, state, tried } = remembering();
    const input = { command: "touch b" };
    const offered = await offeredFor(REQUEST, input, api);
    expect(offered).toMatchObject({ id: REQUEST.id, input, suggested_rule: "Bash(touch *)" });
    expect(tried).toEqual([{ tool_name: REQUEST.tool_name, input, session_id: "session" }]);
    state.begin(offered, "allow", input);
    expect(state.current()).toMatchObject({ match: "Bash(touch *)", input });
  });

  test.each([
    ["touch $X", "no rule can allow it"],
    ["ls", "a built-in rule decides it already: allow"],
    ["npm test", "Bash(npm *) decides it already: allow"],
  ])("can't be created for a request that is edited to %j: %s", async (command, no_rule) => {
    const { api } = remembering();
    const offered = await offeredFor(REQUEST, { command }, api);
    expect(offered).toMatchObject({ no_rule });
    expect(offered).not.toHaveProperty("suggested_rule");
  });

  test("needs no word on why not where people answer anyway", () => {
    const no_rule = "no rule can allow it";
    expect(whyNotRemembered({ ...REQUEST, no_rule })).toBe(no_rule);
    expect(whyNotRemembered({ ...REQUEST, tool_name: "ExitPlanMode", no_rule })).toBeUndefined();
    expect(whyNotRemembered(REQUEST)).toBeUndefined();
  });

  test("is cancelled when its request is decided, and not when another one is", () => {
    const { state } = remembering();
    state.begin(REQUEST);
    state.ended(idOf(2));
    expect(state.current()).toBeDefined();
    state.ended(idOf(1));
    expect(state.current()).toBeUndefined();
  });
});
