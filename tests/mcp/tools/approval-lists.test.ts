import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { fitApprovals, fitMany } from "../../../src/mcp/tools/declaration/told-approvals.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

/** The list in a result for so many waiting requests. */
async function listed(inputs: JsonObject[], shown: (approval: Approval) => Approval = (approval) => approval) {
  await using plexus = await startPlexus();
  const sessions = await Promise.all(["one", "two"].map((name) => plexus.app.sessions.createByHand(OPERATOR, name)));
  for (const [at, input] of inputs.entries()) {
    const session = sessions[at % 2];
    if (session) await plexus.app.approvals.request(session, { tool_name: "Bash", input });
  }
  const { approvalViews } = plexus.app;
  const looked: string[] = [];
  const show = async (approval: Approval) => {
    looked.push(approval.id);
    return shown(await approvalViews.show(approval, OPERATOR));
  };
  const list = await plexus.app.approvals.pending(OPERATOR, undefined, 200);
  const result = await fitApprovals(
    { app: { approvalViews: { ...approvalViews, show } }, principal: OPERATOR },
    list,
    38_500,
  );
  return { ...result, looked };
}

const commands = (count: number, length = 10) =>
  Array.from({ length: count }, (_, at) => ({ command: `${at} ${"x".repeat(length)}` }));

describe("a list of approvals in a result", () => {
  test("reads files only for the approvals that it shows, and for the first that did not fit", async () => {
    const { approvals, has_more, looked } = await listed(commands(150, 3_000));
    expect(approvals.length).toBeWithin(5, 15);
    expect(has_more).toBe(true);
    expect(looked).toHaveLength(approvals.length + 1);
  });

  test("shows the same words only once for each session", async () => {
    const said = ["a", "a", "a", "b", "b", "b", "a"];
    const { approvals } = await listed(commands(7), (approval) => {
      const at = Number(String(approval.input["command"]).split(" ")[0]);
      return { ...approval, said: said[at] ?? "" };
    });
    // Even ones belong to one session, odd ones to another.
    expect(approvals.map((approval) => approval.said)).toEqual(["a", "a", undefined, "b", "b", undefined, "a"]);
  });

  test("distinguishes a request without words from one with the same words as before", async () => {
    const { approvals } = await listed(commands(10), ({ said: _, ...approval }) => {
      const at = Math.floor(Number(String(approval.input["command"]).split(" ")[0]) / 2);
      return at === 1 || at === 2 ? { ...approval, said: "a" } : approval;
    });
    const ofOne = approvals.filter(({ session_id }) => session_id === approvals[0]?.session_id);
    expect(ofOne.map(({ said }) => said)).toEqual([undefined, "a", undefined, "", undefined]);
  });

  test("stays within a result, and cuts a plan and an input that are too long together", async () => {
    const plan = '"quoted"\n'.repeat(5_000);
    const long = commands(3, 20_000);
    const { approvals } = await listed(long, (approval) => ({ ...approval, plan }));
    expect(JSON.stringify(approvals).length).toBeLessThan(40_000);
    for (const approval of approvals) {
      expect(approval.truncated).toBe(true);
      expect(approval.plan?.length).toBeGreaterThan(1_000);
      expect(JSON.stringify(approval.input).length).toBeGreaterThan(1_000);
    }
  });

  test("with many approvals shows each suggested rule once for similar calls of a session", async () => {
    await using plexus = await startPlexus();
    await using place = await temporaryDirectory();
    const sessionNamed = async (name: string) =>
      (await plexus.app.sessionCommands.configure(OPERATOR, { name, working_dir: place.path })).session;
    const sessions = { one: await sessionNamed("one"), two: await sessionNamed("two") };
    const asked = [
      ["one", "touch a"],
      ["one", "touch b"],
      ["two", "touch c"],
      ["one", "touch d"],
      ["two", "curl x"],
      ["two", "rm x"],
      ["two", "mkdir e"],
      ["one", "mkdir f"],
    ] as const;
    for (const [session, command] of asked)
      await plexus.app.approvals.request(sessions[session], { tool_name: "Bash", input: { command } });
    const list = await plexus.app.approvals.pending(OPERATOR, undefined, 200);
    const { approvals } = await fitMany({ app: plexus.app, principal: OPERATOR }, list, 38_500);
    expect(approvals.map(({ session_name, suggested_rule }) => [session_name, suggested_rule])).toEqual([
      ["one", "Bash(touch *)"],
      [undefined, undefined],
      ["two", "Bash(touch *)"],
      ["one", undefined],
      ["two", null],
      [undefined, undefined],
      [undefined, "Bash(mkdir *)"],
      ["one", "Bash(mkdir *)"],
    ]);
  });

  test("with many approvals names the session of each, by id if two have the same name", async () => {
    await using plexus = await startPlexus();
    const { id } = await plexus.app.tokens.createNamed("other");
    const makers = [OPERATOR, { kind: "token", id, name: "other" }] as const;
    const same = await Promise.all(makers.map((maker) => plexus.app.sessions.createByHand(maker, "worker")));
    const sessions = [...same, await plexus.app.sessions.createByHand(OPERATOR, "single")];
    for (const [at, input] of commands(9).entries()) {
      const session = sessions[at % 3];
      if (session) await plexus.app.approvals.request(session, { tool_name: "Bash", input });
    }
    const list = await plexus.app.approvals.pending(OPERATOR, undefined, 200);
    const { approvals } = await fitMany({ app: plexus.app, principal: OPERATOR }, list, 38_500);
    const ids = sessions.map((session) => session.id);
    const named = approvals.map(({ session_id }) =>
      session_id === undefined ? "by its name" : ids.indexOf(session_id),
    );
    expect(named).toEqual([0, 1, 2, 0, 1, "by its name", 0, 1, "by its name"]);
  });
});

test("with six or more approvals omits what the previous one of the same session shows", async () => {
  await using plexus = await startPlexus();
  const session = await plexus.app.sessions.createByHand(OPERATOR, "worker");
  const told = async () => {
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
    const list = await plexus.app.approvals.pending(OPERATOR, undefined, 200);
    const { approvals } = await fitMany({ app: plexus.app, principal: OPERATOR }, list, 38_500);
    return approvals.map(({ session_id }) => session_id);
  };
  for (let count = 1; count < 6; count++) expect(await told()).toEqual(Array(count).fill(session.id));
  expect(await told()).toEqual([session.id, ...Array(5).fill(undefined)]);
});
