import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ChangeEvent } from "../../../src/contract/change.ts";
import { SessionCreated } from "../../../src/contract/sessions/answers.ts";
import { script } from "../../support/model/scripted-model.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { bash, type Family, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";
import { openEvents } from "../support/event-reader.ts";
import { startPaced } from "../support/paced-server.ts";
import { isLast, openSessionEvents, type ReadSessionEvent } from "./session-reader.ts";

setDefaultTimeout(120_000);

let family: Family;
beforeAll(async () => {
  family = await startFamily();
});
afterAll(() => family[Symbol.asyncDispose]());

const open = (key: string, options?: Parameters<typeof openSessionEvents>[2]) =>
  openSessionEvents(family.plexus.url, key, options);
const told = (read: ReadSessionEvent[]) => read.map((one) => one.told);
const types = (read: ReadSessionEvent[]): string[] => read.map((one) => one.told.event.type);

describe("GET /api/v1/sessions/KEY/events", () => {
  test("follows a session live over its turns, with each turn's events numbered from 0 without a gap", async () => {
    await family.create("live");
    await using reader = await open("live");
    expect(reader.response.headers.get("content-type")).toBe("text/event-stream");
    const turns: ReadSessionEvent[][] = [];
    for (const say of ["first", "second"]) {
      await family.start("live", [{ say }]);
      turns.push(await reader.turn());
    }
    for (const turn of turns) {
      expect(turn.map((one) => one.told.seq)).toEqual(turn.map((_, index) => index));
      expect(types(turn).at(0)).toBe("start");
      expect(types(turn).at(-1)).toBe("complete");
    }
    expect(new Set(turns.flat().map((one) => one.told.turn_id)).size).toBe(2);
  });

  test("sends a request and its decision between the tool's use and its result", async () => {
    const id = await family.create("deciding");
    await using reader = await open(id);
    await family.start("deciding", [{ use: [bash("touch decided")] }]);
    const approval = await family.ask(id);
    await family.respond(approval, { approve: true });
    const read = await reader.turn();
    const asked = told(read).flatMap(({ event }) => (event.type === "approval_requested" ? [event] : []));
    expect(asked).toMatchObject([{ approval_id: approval.id, tool_name: "Bash", input: { command: "touch decided" } }]);
    const order = ["tool_use", "approval_requested", "approval_resolved", "tool_result"];
    expect(types(read).filter((type) => order.includes(type))).toEqual(order);
  });

  test("starts with the newest turn, with a given turn, or at the end", async () => {
    await family.create("starting");
    await using nothing = await open("starting", { query: { follow: "false" } });
    expect(await nothing.next()).toBeUndefined();
    for (const say of ["one", "two", "three"]) await family.run("starting", [{ say }]);
    const all = await family.call("claudecode_streams", {});
    const [third = "", second = ""] = all.streams.map(({ turn_id }) => turn_id);
    await using newest = await open("starting", { query: { follow: "false" } });
    expect(turnsIn(await toEnd(newest))).toEqual([third]);
    await using named = await open("starting", { query: { follow: "false", turn_id: second } });
    expect(turnsIn(await toEnd(named))).toEqual([second, third]);
    await using live = await open("starting");
    expect(turnsIn(await live.turn())).toEqual([third]);
  });

  test("continues right after Last-Event-ID, for two readers that keep reconnecting", async () => {
    await family.create("resumed");
    const whole = await open("resumed");
    const impatient = [1, 3].map(async (patience) => {
      const read: ReadSessionEvent[] = [];
      while (read.filter(isLast).length < 2) {
        const after = read.at(-1)?.id;
        await using reader = await open("resumed", after === undefined ? {} : { after });
        for (let taken = 0; taken < patience; taken++) {
          const one = await reader.next();
          if (one) read.push(one);
          if (one && isLast(one)) break;
        }
      }
      return read;
    });
    // Readers that disconnect before the first event begin again at the same place: the next turn.
    await family.run("resumed", [{ say: Array.from({ length: 20 }, (_, index) => `${index} `), delayMs: 20 }]);
    await family.start("resumed", [{ say: "again" }]);
    const all = [...(await whole.turn()), ...(await whole.turn())];
    await whole[Symbol.asyncDispose]();
    expect(all.length).toBeGreaterThan(6);
    for (const read of await Promise.all(impatient)) expect(read).toEqual(all);
    await using asked = await open("resumed", { query: { last_event_id: all[2]?.id ?? "", follow: "false" } });
    expect(await toEnd(asked)).toEqual(all.slice(3));
  });

  test("refuses an id that it never sent, and a turn of another session", async () => {
    await family.create("strange");
    await family.run("strange", [{ say: "x" }]);
    const other = await family.create("other");
    await using reader = await open("strange", { query: { follow: "false" } });
    const last = (await toEnd(reader)).at(-1);
    const turn = last?.told.turn_id ?? "";
    const never = [`${turn}~${(last?.told.seq ?? 0) + 1}`, `${turn}~-1`, `${turn}~`, `${turn}~x`, turn, "5", "~", "~0"];
    for (const after of [...never, `${crypto.randomUUID()}~0`]) {
      await using refused = await open("strange", { after });
      await expectRefusal(refused.response, 422, "invalid_arguments");
    }
    await using elsewhere = await open(other, { after: `${turn}~0` });
    await expectRefusal(elsewhere.response, 422, "invalid_arguments");
    await using unknown = await open(other, { query: { turn_id: turn } });
    await expectRefusal(unknown.response, 404, "not_found");
    await using odd = await open(other, { query: { follow: "maybe" } });
    await expectRefusal(odd.response, 422, "invalid_arguments");
  });

  test("ends when the session is deleted", async () => {
    const id = await family.create("deleted");
    await using idle = await open(id);
    await family.start("deleted", [{ hang: true }]);
    await idle.next();
    const end = idle.turn();
    await family.plexus.fetch(`/api/v1/sessions/${id}`, { method: "DELETE" });
    await end;
    expect(await idle.next()).toBeUndefined();
  });

  test("ends when its reader's token is revoked, and when the server stops", async () => {
    await using plexus = await startPlexus();
    const ann = await namedToken(plexus, "ann");
    const session = await plexus.app.sessions.createByHand(ann.principal, "hers");
    await using hers = await openSessionEvents(plexus.url, session.id, { token: ann.token });
    await using another = startPaced(plexus.app, { idleSecs: 60, keepAliveMs: 1_000 });
    await using operators = await openSessionEvents(another.url, session.id);
    await plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });
    expect(await hers.next()).toBeUndefined();
    const end = operators.next();
    await another[Symbol.asyncDispose]();
    expect(await end.catch(() => undefined)).toBeUndefined();
  });

  test("stops following when its reader disconnects", async () => {
    await family.create("left");
    await family.run("left", [{ say: "something to read" }]);
    const readers: AbortSignal[] = [];
    const { follow } = family.plexus.app.sessionStream;
    let ends = 0;
    family.plexus.app.sessionStream.follow = async function* (session, from, options) {
      readers.push(options.signal);
      try {
        yield* follow(session, from, options);
      } finally {
        ends++;
      }
    };
    for (let round = 0; round < 10; round++) {
      await using reader = await open("left");
      // Some disconnect while they wait, some while they read.
      if (round % 2 === 0) await reader.turn();
      else await reader.next();
    }
    await until("all of them to be freed", () => ends === 10 && readers.every(({ aborted }) => aborted));
    family.plexus.app.sessionStream.follow = follow;
  });
});

describe("GET /api/v1/events", () => {
  test("sends the beginning and the end of each turn to those who may see it", async () => {
    const bob = await namedToken(family.plexus, "bob");
    await using reader = await openEvents(family.plexus.url);
    await using his = await openEvents(family.plexus.url, { token: bob.token });
    const id = await family.create("told");
    await family.run("told", [{ say: "done" }]);
    await family.run("told", [{ status: 400, message: "no such thing" }]);
    const events = (await reader.take(4)).map(({ event }) => ChangeEvent.parse(event));
    const about = { session_id: id, session_name: "told", ephemeral: false, started_at: expect.any(Number) };
    const begun = { ...about, type: "turn_started", status: "running", error: null, usage: null, ended_at: null };
    const over = { ...about, type: "turn_ended", ended_at: expect.any(Number) };
    expect(events).toMatchObject([
      begun,
      { ...over, status: "complete", error: null, usage: { num_turns: 1 } },
      begun,
      { ...over, status: "failed", error: expect.stringContaining("no such thing") },
    ]);
    const ids = events.map((event) => ("turn_id" in event ? event.turn_id : undefined));
    expect([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).toEqual([true, true, false]);
    const made = await family.plexus.fetch("/api/v1/sessions", {
      method: "POST",
      token: bob.token,
      body: JSON.stringify({ name: "his own", working_dir: family.place }),
    });
    const { id: own } = SessionCreated.parse(await made.json());
    const prompt = script([{ say: "x" }]);
    const body = JSON.stringify({ prompt });
    await family.plexus.fetch(`/api/v1/sessions/${own}/chat`, { method: "POST", token: bob.token, body });
    expect((await his.next())?.event).toMatchObject({ type: "turn_started", session_id: own });
    expect((await his.next())?.event).toMatchObject({ type: "turn_ended", session_id: own });
  });
});

async function toEnd(reader: Awaited<ReturnType<typeof open>>): Promise<ReadSessionEvent[]> {
  const read: ReadSessionEvent[] = [];
  for (let one = await reader.next(); one; one = await reader.next()) read.push(one);
  return read;
}

function turnsIn(read: ReadSessionEvent[]): string[] {
  return [...new Set(told(read).map(({ turn_id }) => turn_id))];
}
