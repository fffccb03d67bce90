import { expect, test } from "bun:test";
import type { CreateInput } from "../../../src/contract/sessions/session.ts";
import { OPERATOR } from "../open-core.ts";
import { asking, BASH, ruling, rulingOn, startRuled } from "./ruled.ts";

const TOUCH = { decision: "allow", match: "Bash(touch *)" } as const;
const RM = { decision: "deny", match: "Bash(rm *)", reason: "keep it" } as const;

test("the rules of a session apply in it from its first call on, and nowhere else", async () => {
  await using plexus = await startRuled();
  const asked: CreateInput = { name: "child", working_dir: plexus.place, rules: [TOUCH, RM] };
  const session = await plexus.app.sessionCommands.create(OPERATOR, asked);
  expect(await ruling(plexus, session, BASH("touch a"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, session, BASH("rm a"))).toMatchObject({ status: "denied", message: "keep it" });
  expect(await ruling(plexus, await plexus.session("other"), BASH("touch a"))).toMatchObject({ status: "pending" });
  const listed = await plexus.app.rules.list(OPERATOR, session.id);
  expect(listed.filter(({ tier }) => tier === "session").map(({ match }) => match)).toEqual([RM.match, TOUCH.match]);
});

test("an update replaces all of them immediately, also for pending requests, and keeps added rules", async () => {
  await using plexus = await startRuled();
  const { sessionCommands, sessions } = plexus.app;
  const asked: CreateInput = { name: "child", working_dir: plexus.place, rules: [TOUCH] };
  const session = await sessionCommands.create(OPERATOR, asked);
  await plexus.add({ decision: "allow", match: "Bash(mkdir *)", session_id: session.id });
  using waiting = await asking(plexus, session, BASH("rm a"));
  await sessionCommands.update(OPERATOR, session, { rules: [RM] });
  expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "denied", message: "keep it" });
  expect(await ruling(plexus, session, BASH("touch a"))).toMatchObject({ status: "pending" });
  expect(await ruling(plexus, session, BASH("mkdir a"))).toMatchObject({ status: "allowed" });
  await sessionCommands.update(OPERATOR, await sessions.require(OPERATOR, session.id), { max_turns: 3 });
  expect(await ruling(plexus, session, BASH("rm a"))).toMatchObject({ status: "denied" });
  await sessionCommands.update(OPERATOR, await sessions.require(OPERATOR, session.id), { rules: [] });
  expect(await ruling(plexus, session, BASH("rm a"))).toMatchObject({ status: "pending" });
});

test("a pattern that can't be read makes no session, and changes none", async () => {
  await using plexus = await startRuled();
  const { sessionCommands, sessions } = plexus.app;
  const bad = { decision: "allow", match: "Bash(npm" } as const;
  const asked: CreateInput = { name: "child", working_dir: plexus.place, rules: [bad] };
  await expect(sessionCommands.create(OPERATOR, asked)).rejects.toMatchObject({ code: "invalid_arguments" });
  expect(await sessions.named(OPERATOR, "child")).toBeUndefined();
  const session = await sessionCommands.create(OPERATOR, { ...asked, rules: [TOUCH] });
  const updating = sessionCommands.update(OPERATOR, session, { rules: [RM, bad] });
  await expect(updating).rejects.toMatchObject({ code: "invalid_arguments" });
  expect(await ruling(plexus, session, BASH("touch a"))).toMatchObject({ status: "allowed" });
});

test("running a session with other rules is refused, and with the same rules works", async () => {
  await using plexus = await startRuled();
  const { sessionCommands } = plexus.app;
  const asked: CreateInput = { name: "child", working_dir: plexus.place, rules: [TOUCH, RM] };
  const { session } = await sessionCommands.open(OPERATOR, asked);
  const again = (rules: CreateInput["rules"]) => sessionCommands.open(OPERATOR, { ...asked, rules });
  for (const rules of [undefined, [TOUCH, RM]]) expect((await again(rules)).session.id).toBe(session.id);
  for (const rules of [[TOUCH], [], [RM], [TOUCH, { ...RM, reason: "other" }]])
    await expect(again(rules)).rejects.toMatchObject({
      code: "config_differs",
      message: expect.stringContaining("rules"),
    });
});

test("a fork keeps its parent's deny rules and settings", async () => {
  await using plexus = await startRuled();
  const { sessionCommands } = plexus.app;
  const asked: CreateInput = { name: "child", working_dir: plexus.place, rules: [TOUCH] };
  const session = await sessionCommands.create(OPERATOR, asked);
  await plexus.add({ ...RM, session_id: session.id });
  await plexus.add({ decision: "allow", match: "Bash(mkdir *)", session_id: session.id });
  const fork = await sessionCommands.fork(OPERATOR, session, "fork");
  expect(await ruling(plexus, fork, BASH("rm a"))).toMatchObject({ status: "denied", message: "keep it" });
  expect(await ruling(plexus, fork, BASH("touch a"))).toMatchObject({ status: "allowed" });
  expect(await ruling(plexus, fork, BASH("mkdir a"))).toMatchObject({ status: "pending" });
});
