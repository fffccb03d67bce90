import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { z } from "zod";
import {
  OneSession,
  SessionList,
  TurnAnswer,
  TurnStarted,
  UpdatedSession,
} from "../../../../src/contract/routes/sessions.ts";
import { OneTurn, TurnEvents, TurnList } from "../../../../src/contract/routes/turns.ts";
import { SessionCreated } from "../../../../src/contract/sessions/answers.ts";
import type { SessionSummary, TurnSummary } from "../../../../src/contract/sessions/session-view.ts";
import type { TurnEvent } from "../../../../src/contract/sessions/turn.ts";
import { script, type Turn } from "../../../support/model/scripted-model.ts";
import { bash, type Family, startFamily, textOf } from "../../../support/sessions/family.ts";
import { until } from "../../../support/until.ts";
import { expectRefusal, namedToken } from "../../support/callers.ts";

setDefaultTimeout(120_000);

let family: Family;
beforeAll(async () => {
  family = await startFamily();
});
afterAll(() => family[Symbol.asyncDispose]());

describe("POST /api/v1/sessions", () => {
  test("creates a session, which is found by its id and by its name", async () => {
    const created = await create("a new one: @home", { supervision: "strict", model: "opus" });
    for (const key of [created.id, created.name]) {
      const { config } = await answered(OneSession, "GET", `/${encodeURIComponent(key)}`);
      expect(config).toMatchObject({ id: created.id, name: "a new one: @home", kind: "managed", status: "idle" });
      expect(config).toMatchObject({ head: created.head, working_dir: family.place, supervision: "strict" });
    }
  });

  test("says what rules in the settings leave out, when a session is created and when they are changed", async () => {
    const rules = [{ decision: "allow", match: "Bash(rm -rf *)" }];
    const warnings = [expect.stringContaining('rules "Bash(rm -rf *)" allows nothing: a wildcard never covers')];
    expect(await create("ruled", { working_dir: family.place, rules })).toMatchObject({ warnings });
    const changed = await answered(UpdatedSession, "PATCH", "/ruled", { rules });
    expect(changed).toMatchObject({ warnings });
    const others = [
      { decision: "allow", match: "Bash(npm test)" },
      { ...rules[0], decision: "deny" },
    ];
    expect(await answered(UpdatedSession, "PATCH", "/ruled", { rules: others })).not.toHaveProperty("warnings");
    expect(await answered(UpdatedSession, "PATCH", "/ruled", { max_turns: 3 })).not.toHaveProperty("warnings");
  });

  test("names entries of allowed_tools that have no effect, when a session is created, run and changed", async () => {
    const asked = { working_dir: family.place, supervision: "strict", allowed_tools: ["Read", "Bash(npm test)"] };
    const warnings = [
      expect.stringContaining('allowed_tools "Bash(npm test)" has no effect: with supervision "strict"'),
    ];
    expect(await create("warned", asked)).toMatchObject({ warnings });
    expect(await create("unwarned", { ...asked, supervision: "default" })).not.toHaveProperty("warnings");
    const run = async (body: object) => {
      const sent = { method: "POST", body: JSON.stringify({ ...asked, prompt: script([{ say: "x" }]), ...body }) };
      return (await family.plexus.fetch("/api/v1/run", sent)).json();
    };
    expect(await run({ name: "runs", wait_secs: 60 })).toMatchObject({ status: "complete", warnings });
    expect(await run({ name: "runs", wait_secs: undefined })).toMatchObject({ type: "started", warnings });
    await until("its end", async () => (await answered(OneSession, "GET", "/runs")).config.status === "complete");
    const changed = await answered(UpdatedSession, "PATCH", "/unwarned", { supervision: "strict" });
    expect(changed).toMatchObject({ config: { supervision: "strict" }, warnings });
    expect(await answered(UpdatedSession, "PATCH", "/unwarned", { model: "opus" })).not.toHaveProperty("warnings");
  });

  test("refuses a name in use with 409", async () => {
    await create("taken");
    await expectRefusal(await request("POST", "", { name: "taken" }), 409, "name_taken");
  });

  test.each([{}, { name: "/" }, { name: "x", colour: "red" }, { name: "x", working_dir: "/nowhere at all" }])(
    "refuses %j with 422",
    async (body) => {
      await expectRefusal(await request("POST", "", body), 422, "invalid_arguments");
    },
  );
});

describe("POST /api/v1/sessions/KEY/chat", () => {
  test("starts a turn and answers at once; its events and its end are read in pages", async () => {
    const { id } = await create("chatting");
    const { turn_id, session_id } = await start("chatting", [{ say: ["one ", "two ", "three"] }]);
    expect(session_id).toBe(id);
    const turn = await ended(turn_id);
    expect(turn).toMatchObject({ session_id: id, status: "complete", error: null, ephemeral: false });
    expect(turn.usage?.num_turns).toBe(1);
    const events: TurnEvent[] = [];
    for (let from = 0, more = true; more; from = events.length) {
      const page = await eventsOf(turn_id, `from_seq=${from}&limit=2`);
      expect(page.events.map(({ seq }) => seq)).toEqual(page.events.map((_, index) => from + index));
      expect(page.total_events).toBe(turn.event_count);
      events.push(...page.events.map(({ event }) => event));
      more = page.has_more;
    }
    expect(events).toHaveLength(turn.event_count);
    expect(textOf(events)).toBe("one two three");
    expect(await eventsOf(turn_id, `from_seq=${turn.event_count}`)).toMatchObject({ events: [], has_more: false });
  });

  test("waits for the end with wait_secs, and answers with the child's text and usage", async () => {
    await create("waiting");
    const prompt = script([{ say: "forty-two" }]);
    const chat = await answered(TurnAnswer, "POST", "/waiting/chat", { prompt, wait_secs: 60 });
    expect(chat).toMatchObject({ status: "complete", text: "forty-two", pending_approvals: [] });
  });

  test("returns from a wait as soon as a decision is needed, with the complete request", async () => {
    await create("asking");
    const command = `touch ${"x".repeat(50_000)}`;
    const prompt = script([{ use: [bash(command)] }]);
    const chat = await answered(TurnAnswer, "POST", "/asking/chat", { prompt, wait_secs: 60 });
    expect(chat).toMatchObject({ status: "awaiting_permission", pending_approvals: [{ input: { command } }] });
    expect((await summaryOf("asking")).pending).toBe(1);
    expect((await list("status=awaiting_permission")).sessions.map(({ name }) => name)).toEqual(["asking"]);
    expect((await list("status=running")).sessions).toEqual([]);
    expect(await (await request("POST", "/asking/cancel")).json()).toMatchObject({ type: "cancelled" });
    expect(await (await request("POST", "/asking/cancel")).json()).toMatchObject({ type: "not_running" });
    expect(await ended(chat.turn_id)).toMatchObject({ status: "cancelled" });
  });

  test("answers a wait with the current state when the server stops", async () => {
    await using own = await startFamily();
    await own.create("stopped");
    const body = JSON.stringify({ prompt: script([{ hang: true }]), wait_secs: 110 });
    const chat = own.plexus.fetch("/api/v1/sessions/stopped/chat", { method: "POST", body });
    await until("the child to run", () => own.model.requests.length > 0);
    await own.plexus[Symbol.asyncDispose]();
    expect(TurnAnswer.parse(await (await chat).json())).toMatchObject({ status: "running", text: "" });
  });

  test("refuses a second turn with 409 while one runs, until the session is deleted", async () => {
    const { id } = await create("busy");
    await start("busy", [{ hang: true }]);
    await expectRefusal(await request("POST", "/busy/chat", { prompt: "more" }), 409, "turn_running");
    expect(await (await request("DELETE", "/busy")).json()).toEqual({ type: "deleted", id });
    await expectRefusal(await request("GET", "/busy"), 404, "not_found");
  });

  test.each([{}, { prompt: "" }, { prompt: "x", name: "y" }, { prompt: "x", wait_secs: 111 }])(
    "refuses %j with 422",
    async (body) => {
      await create(`strict ${JSON.stringify(body).replace(/\W/g, "")}`);
      const key = encodeURIComponent(`strict ${JSON.stringify(body).replace(/\W/g, "")}`);
      await expectRefusal(await request("POST", `/${key}/chat`, body), 422, "invalid_arguments");
    },
  );
});

describe("GET /api/v1/sessions", () => {
  test("lists the newest first, page by page, each once", async () => {
    const names = ["page-1", "page-2", "page-3"];
    for (const name of names) await create(name);
    const all = (await list("limit=1000")).sessions.map(({ id }) => id);
    expect((await list("limit=3")).sessions.map(({ name }) => name)).toEqual(names.toReversed());
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: z.infer<typeof SessionList> = await list(`limit=2${cursor ? `&cursor=${cursor}` : ""}`);
      seen.push(...page.sessions.map(({ id }) => id));
      expect(page.has_more).toBe(page.cursor !== null);
      cursor = page.cursor;
    } while (cursor);
    expect(seen).toEqual(all);
  });

  test("shows the status and the cost of each", async () => {
    const { id } = await create("standing");
    expect(await summaryOf("standing")).toMatchObject({ id, status: "idle", last_turn: null, cost_usd: 0, pending: 0 });
    const { turn_id } = await start("standing", [{ say: "done" }]);
    const { started_at, ended_at } = await ended(turn_id);
    expect(await summaryOf("standing")).toMatchObject({
      status: "complete",
      owner: "operator",
      kind: "managed",
      working_dir: family.place,
      claude_session_id: expect.any(String),
      last_turn: { id: turn_id, status: "complete", started_at, ended_at },
    });
    expect((await list("status=complete")).sessions.map(({ name }) => name)).toContain("standing");
    expect((await list("status=idle")).sessions.map(({ name }) => name)).not.toContain("standing");
    await plexus().child("by-hand");
    expect(await summaryOf("by-hand")).toMatchObject({ kind: "by_hand", working_dir: null, status: "idle" });
  });

  test.each(["limit=0", "limit=1001", "limit=x", "status=asleep", "page=2"])("refuses ?%s with 422", async (query) => {
    await expectRefusal(await request("GET", `?${query}`), 422, "invalid_arguments");
  });
});

describe("the turns and the conversation of a session", () => {
  test("are listed newest first, forked, and read from the root to the head", async () => {
    await create("trunk");
    const first = await start("trunk", [{ say: "said first" }]);
    await ended(first.turn_id);
    const second = await start("trunk", [{ say: "said second" }], { ephemeral: true });
    await ended(second.turn_id);
    const { turns, cursor } = await answered(TurnList, "GET", "/trunk/turns?limit=1");
    expect(turns).toMatchObject([{ turn_id: second.turn_id, ephemeral: true }]);
    const rest = await answered(TurnList, "GET", `/trunk/turns?cursor=${cursor}`);
    expect(rest).toMatchObject({ turns: [{ turn_id: first.turn_id }], has_more: false, cursor: null });
    const fork = await request("POST", "/trunk/fork", { new_name: "branch" });
    expect(fork.status).toBe(201);
    expect(await fork.json()).toMatchObject({ type: "forked", id: expect.any(String), head: expect.any(Object) });
    expect(await summaryOf("branch")).toMatchObject({ forked_from: expect.any(String), status: "idle" });
    const context = await (await request("GET", "/branch/context")).json();
    expect(context).toMatchObject({ type: "ok", has_more: false });
    expect(JSON.stringify(context)).toContain("said first");
    expect(JSON.stringify(context)).not.toContain("said second");
    const tree = await (await request("GET", "/trunk/tree")).json();
    expect(tree).toMatchObject({ type: "ok", has_more: false, nodes: [{ role: "root", parent_id: null }, {}, {}] });
  });
});

describe("access to a session", () => {
  test("is for its creator and the operator; for all others it does not exist", async () => {
    const [ann, bob] = [await namedToken(plexus(), "ann"), await namedToken(plexus(), "bob")];
    const made = await request("POST", "", { name: "hers", working_dir: family.place }, ann.token);
    const { id } = SessionCreated.parse(await made.json());
    const chat = await request("POST", "/hers/chat", { prompt: script([{ say: "hello" }]) }, ann.token);
    const { turn_id } = TurnStarted.parse(await chat.json());
    expect((await ended(turn_id)).status).toBe("complete");
    const paths: [string, string, object?][] = [
      ["GET", `/sessions/${id}`],
      ["DELETE", `/sessions/${id}`],
      ["POST", `/sessions/${id}/chat`, { prompt: "x" }],
      ["POST", `/sessions/${id}/cancel`],
      ["POST", `/sessions/${id}/fork`, { new_name: "his" }],
      ["GET", `/sessions/${id}/tree`],
      ["GET", `/sessions/${id}/context`],
      ["GET", `/sessions/${id}/turns`],
      ["GET", `/sessions/${id}/events`],
      ["GET", "/sessions/hers"],
      ["GET", `/turns/${turn_id}`],
      ["GET", `/turns/${turn_id}/events`],
    ];
    for (const [method, path, body] of paths) {
      const init = { method, token: bob.token, ...(body && { body: JSON.stringify(body) }) };
      await expectRefusal(await plexus().fetch(`/api/v1${path}`, init), 404, "not_found");
      await expectRefusal(await plexus().fetch(`/api/v1${path}`, { ...init, token: "wrong" }), 401, "unauthorized");
    }
    const listedFor = async (token: string) =>
      SessionList.parse(await (await request("GET", "", undefined, token)).json()).sessions.map(({ name }) => name);
    expect(await listedFor(bob.token)).toEqual([]);
    expect(await listedFor(ann.token)).toEqual(["hers"]);
    expect(await summaryOf("hers")).toMatchObject({ id, owner: "token:ann" });
    await expectRefusal(await request("GET", "/hers"), 404, "not_found");
    expect((await request("GET", `/${id}`)).status).toBe(200);
    const child = await plexus().child();
    await expectRefusal(await request("GET", `/${id}`, undefined, child.token), 403, "forbidden");
  });
});

const plexus = () => family.plexus;

function request(method: string, path: string, body?: object, token?: string): Promise<Response> {
  const init = { method, ...(body && { body: JSON.stringify(body) }), ...(token && { token }) };
  return plexus().fetch(`/api/v1/sessions${path}`, init);
}

async function answered<T extends z.ZodType>(answer: T, method: string, path: string, body?: object) {
  return answer.parse(await (await request(method, path, body)).json());
}

async function create(name: string, asked: object = {}): Promise<z.infer<typeof SessionCreated>> {
  const response = await request("POST", "", { name, working_dir: family.place, ...asked });
  expect(response.status).toBe(201);
  return SessionCreated.parse(await response.json());
}

async function start(key: string, turns: Turn[], asked: object = {}): Promise<z.infer<typeof TurnStarted>> {
  const response = await request("POST", `/${key}/chat`, { prompt: script(turns), ...asked });
  expect(response.status).toBe(202);
  const started = TurnStarted.parse(await response.json());
  expect(started.type).toBe("started");
  return started;
}

async function ended(turnId: string): Promise<TurnSummary> {
  return until(`the end of ${turnId}`, async () => {
    const { turn } = OneTurn.parse(await (await plexus().fetch(`/api/v1/turns/${turnId}`)).json());
    return turn.ended_at !== null && turn;
  });
}

async function eventsOf(turnId: string, query: string): Promise<z.infer<typeof TurnEvents>> {
  return TurnEvents.parse(await (await plexus().fetch(`/api/v1/turns/${turnId}/events?${query}`)).json());
}

function list(query: string): Promise<z.infer<typeof SessionList>> {
  return answered(SessionList, "GET", `?${query}`);
}

async function summaryOf(name: string): Promise<SessionSummary> {
  const found = (await list("limit=1000")).sessions.find((session) => session.name === name);
  if (!found) throw new Error(`there is no session ${name}`);
  return found;
}
