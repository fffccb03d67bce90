import { expect, setDefaultTimeout, test } from "bun:test";
import { ChangeEvent } from "../../../../src/contract/change.ts";
import { chat, listSessions } from "../../../../src/contract/routes/sessions.ts";
import { script } from "../../../support/model/scripted-model.ts";
import { startFamily } from "../../../support/sessions/family.ts";
import { createSender, readDocument } from "../../openapi/checks.ts";
import { openEvents } from "../../support/event-reader.ts";

setDefaultTimeout(120_000);

test("a turn without a slot is queued over REST as documented, and watchers see it wait, start and end", async () => {
  await using family = await startFamily({ flags: { maxRunning: "1" } });
  const { plexus } = family;
  const { send } = createSender(plexus, await readDocument(plexus));
  for (const name of ["one", "two", "three"]) await family.create(name);
  await family.start("one", [{ hang: true }]);
  await using reader = await openEvents(plexus.url);
  const prompt = script([{ say: "done" }]);
  await send(chat, 202, { params: { key: "two" }, body: { prompt } });
  await send(chat, 200, { params: { key: "three" }, body: { prompt, wait_secs: 0 } });
  expect(await send(listSessions, 200, { query: "status=queued" })).toMatchObject({
    sessions: [
      { name: "three", status: "queued" },
      { name: "two", status: "queued", last_turn: { status: "queued" } },
    ],
  });
  await send(chat, 409, { params: { key: "two" }, body: { prompt } });
  await family.call("claudecode_cancel", { name: "one" });
  const told = (await reader.take(7)).map(({ event }) => ChangeEvent.parse(event));
  expect(told.map((event) => `${event.type} ${event.session_name}`)).toEqual([
    "turn_queued two",
    "turn_queued three",
    "turn_ended one",
    "turn_started two",
    "turn_ended two",
    "turn_started three",
    "turn_ended three",
  ]);
});

test("the answer for a queued turn has its id and its position", async () => {
  await using family = await startFamily({ flags: { maxRunning: "1" } });
  for (const name of ["one", "two"]) await family.create(name);
  await family.start("one", [{ hang: true }]);
  const post = async (path: string, body: object = {}) =>
    (await family.plexus.fetch(`/api/v1/sessions/${path}`, { method: "POST", body: JSON.stringify(body) })).json();
  const queued = await post("two/chat", { prompt: "go" });
  const about = { session_id: expect.any(String), turn_id: expect.any(String) };
  expect(queued).toEqual({ type: "queued", ...about, place: 1 });
  expect(await post("two/cancel")).toMatchObject({ type: "cancelled" });
  const waited = await post("two/chat", { prompt: "go", wait_secs: 0 });
  expect(waited).toMatchObject({ type: "ok", ...about, status: "queued", place: 1, text: "" });
});
