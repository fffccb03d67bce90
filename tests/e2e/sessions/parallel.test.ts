import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readResults } from "../../support/model/scripted-model.ts";
import { bash, eventsOf, startFamily, textOf } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

test("two children with concurrent requests get their own answers, out of order", async () => {
  await using family = await startFamily();
  const [one, two] = [await family.create("one"), await family.create("two")];
  await family.start("one", [{ use: [bash("touch one-a")] }, { use: [bash("touch one-b")] }]);
  await family.start("two", [{ use: [bash("touch two-a")] }, { use: [bash("touch two-b")] }]);
  const [oneA, twoA] = await Promise.all([family.ask(one), family.ask(two)]);
  expect(await family.call("claudecode_poll", { name: "one" })).toMatchObject({
    status: "awaiting_permission",
    pending_approvals: [{ id: oneA.id, session_name: "one" }],
  });

  await family.respond(twoA, { approve: false, message: "not a, two" });
  const twoB = await family.ask(two);
  expect(await family.statusOf(oneA)).toBe("pending");
  await family.respond(twoB, { approve: true });
  const ended = await family.ended("two");
  expect(await family.statusOf(oneA)).toBe("pending");
  await family.respond(oneA, { approve: true });
  const oneB = await family.ask(one);
  await family.respond(oneB, { approve: false, message: "not b, one" });
  const others = await family.ended("one");

  expect([ended.status, others.status]).toEqual(["complete", "complete"]);
  const made = ["one-a", "one-b", "two-a", "two-b"].filter((name) => existsSync(join(family.place, name)));
  expect(made).toEqual(["one-a", "two-b"]);
  expect(readResults(textOf(ended.events))).toMatchObject([
    { is_error: true, content: "not a, two" },
    { is_error: false },
  ]);
  expect(readResults(textOf(others.events))).toMatchObject([
    { is_error: false },
    { is_error: true, content: "not b, one" },
  ]);
  for (const [events, asked] of [
    [ended.events, [twoA, twoB]],
    [others.events, [oneA, oneB]],
  ] as const) {
    const ids = asked.map((approval) => approval.id);
    expect(eventsOf(events, "approval_requested").map(({ approval_id }) => approval_id)).toEqual(ids);
    expect(eventsOf(events, "approval_resolved").map(({ approval_id }) => approval_id)).toEqual(ids);
  }
});
