import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ToldApproval } from "../../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { startPlexus } from "../../support/server/plexus.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;
const BIG = 20_000;
const TOO_BIG = 60_000;

/** A server, a child that makes requests, and clients that read them. */
async function open() {
  await using stack = new AsyncDisposableStack();
  const plexus = stack.use(await startPlexus());
  const session = await plexus.app.sessions.createByHand(OPERATOR, "worker");
  const owned = stack.move();
  const ask = async (tool_name: string, input: JsonObject) =>
    (await plexus.app.approvals.request(session, { tool_name, input })).approvalId;
  return {
    async client() {
      const { call } = await plexus.connect();
      return async (tool: string, args: object = {}) => (await call(tool, args)).value;
    },
    ask,
    write: (chars: number) => ask("Write", { file_path: "/a", content: '"'.repeat(chars / 2) }),
    small: () => ask("Bash", { command: "ls" }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The requests in an answer of any form. */
function toldIn(answer: JsonObject): ToldApproval[] {
  const wait = Object(answer["wait"] ?? answer);
  return ToldApproval.array().parse(wait.approvals ?? [wait.approval]);
}

const WHOLE = { isCut: false, told_before: undefined, isShort: false };
const AGAIN = { isCut: true, told_before: true as const, isShort: true };
const HEAD = { isCut: true, told_before: undefined, isShort: true };

function formOf(approval: ToldApproval | undefined) {
  const isShort = JSON.stringify(approval).length < 1_200;
  return { isCut: approval?.truncated === true, told_before: approval?.told_before, isShort };
}

const firstIn = (answer: JsonObject) => formOf(toldIn(answer)[0]);

describe("a long request", () => {
  test("is shown in full once to each reader, then only its beginning, until the reader asks for it", async () => {
    await using world = await open();
    const [one, other] = [await world.client(), await world.client()];
    const id = await world.write(BIG);
    expect(firstIn(await one("loopback_wait", { timeout_secs: 0 }))).toEqual(WHOLE);
    const small = await world.small();
    const again = await one("loopback_respond", { approval_id: small, approve: true, wait_secs: 0 });
    expect(toldIn(again)).toMatchObject([{ id, input_size: expect.any(Number), cut_at: expect.any(Number) }]);
    expect(firstIn(again)).toEqual(AGAIN);
    expect(Object(again["wait"]).next).toBe(
      "Decide with loopback_respond. What has told_before is cut, since you were told all of it: loopback_get tells it again.",
    );
    expect(firstIn(await one("loopback_wait", { timeout_secs: 0 }))).toEqual(AGAIN);
    expect(firstIn(await one("loopback_get", { approval_id: id }))).toEqual(WHOLE);
    expect(firstIn(await one("loopback_pending"))).toEqual(WHOLE);
    expect(firstIn(await other("loopback_wait", { timeout_secs: 0 }))).toEqual(WHOLE);
    const named = { timeout_secs: 0, consumer: "boss" };
    expect(firstIn(await one("loopback_wait", named))).toEqual(WHOLE);
    expect(firstIn(await other("loopback_wait", named))).toEqual(AGAIN);
    const decided = await one("loopback_respond", { approval_id: id, approve: true });
    expect(decided).not.toHaveProperty("note");
  });

  test("is not shown in full again by a wait after loopback_get or loopback_pending", async () => {
    await using world = await open();
    for (const tool of ["loopback_get", "loopback_pending"]) {
      const client = await world.client();
      const id = await world.write(BIG);
      const told = toldIn(await client(tool, tool === "loopback_get" ? { approval_id: id } : {}));
      expect(formOf(told.at(-1))).toEqual(WHOLE);
      const waited = toldIn(await client("loopback_wait", { timeout_secs: 0 }));
      expect(formOf(waited.find((one) => one.id === id))).toEqual(AGAIN);
      await client("loopback_respond", { approval_id: id, approve: false });
    }
  });

  test("that was cut for lack of room is shown in full by the next answer with room", async () => {
    await using world = await open();
    const client = await world.client();
    const ids = [await world.write(BIG), await world.write(BIG), await world.write(BIG)];
    const beside = toldIn(await client("loopback_wait", { timeout_secs: 0 }));
    expect(beside.map(({ truncated }) => truncated)).toEqual([true, true, true]);
    const rest = ids.slice(1).map((approval_id) => ({ approval_id, approve: false }));
    expect(firstIn(await client("loopback_respond", { decisions: rest, wait_secs: 0 }))).toEqual(WHOLE);
  });

  test("that fits into no answer shows its beginning until it is read, and the rest begins at cut_at", async () => {
    await using world = await open();
    const client = await world.client();
    const id = await world.write(TOO_BIG);
    const [told] = toldIn(await client("loopback_wait", { timeout_secs: 0 }));
    expect(JSON.stringify(told).length).toBeGreaterThan(30_000);
    const again = await client("loopback_wait", { timeout_secs: 0 });
    expect(firstIn(again)).toEqual(HEAD);
    expect(again["next"]).toStartWith("It is cut: read it with loopback_get first.");
    let offset = Number(told?.cut_at);
    for (let has_more = true; has_more; ) {
      const slice = await client("loopback_get", { approval_id: id, offset });
      offset += Number(slice["length"]);
      has_more = slice["has_more"] === true;
    }
    expect(firstIn(await client("loopback_wait", { timeout_secs: 0 }))).toEqual(AGAIN);
    expect(await client("loopback_respond", { approval_id: id, approve: true })).not.toHaveProperty("note");
  });

  test("that is allowed after only a part was shown gets partly_told, alone and in a batch", async () => {
    await using world = await open();
    const client = await world.client();
    const note = expect.stringContaining("told only a part");
    const tell = async () => {
      const id = await world.write(TOO_BIG);
      await client("loopback_get", { approval_id: id });
      return { approval_id: id, approve: true };
    };
    expect(await client("loopback_respond", await tell())).toMatchObject({ partly_told: true, note });
    const merged = { ...(await tell()), merge: true, updated_input: { file_path: "/b", content: "x" } };
    const decisions = [
      await tell(),
      merged,
      { ...(await tell()), updated_input: { file_path: "/b", content: "x" } },
      { ...(await tell()), approve: false },
      { approval_id: await world.write(TOO_BIG), approve: true },
      { approval_id: await world.small(), approve: true },
    ];
    const { results, note: ofMany } = await client("loopback_respond", { decisions, wait_secs: 0 });
    expect(ofMany).toEqual(note);
    const marked = (results as JsonObject[]).map(({ partly_told }) => partly_told);
    expect(marked).toEqual([true, true, undefined, undefined, undefined, undefined]);
  });

  test("that is short is shown in full by every answer, and reading a slice does not change that", async () => {
    await using world = await open();
    const client = await world.client();
    const id = await world.small();
    await client("loopback_get", { approval_id: id, offset: 0, length: 3 });
    for (let times = 0; times < 2; times++)
      expect(formOf(toldIn(await client("loopback_wait", { timeout_secs: 0 }))[0])).toMatchObject({ isCut: false });
    expect(await client("loopback_respond", { approval_id: id, approve: true })).not.toHaveProperty("note");
  });
});

describe("loopback_respond", () => {
  test("does not wait for requests in skip, which requires wait_secs", async () => {
    await using world = await open();
    const client = await world.client();
    const [first, second, third] = [await world.small(), await world.small(), await world.small()];
    const skip = [second];
    const value = await client("loopback_respond", { approval_id: first, approve: true, wait_secs: 0, skip });
    expect(toldIn(value).map(({ id }) => id)).toEqual([third]);
    const many = { decisions: [{ approval_id: third, approve: true }], wait_secs: 0, skip };
    expect((await client("loopback_respond", many))["wait"]).toMatchObject({ type: "timeout" });
    const refused = await client("loopback_respond", { approval_id: second, approve: true, skip });
    expect(refused).toMatchObject({
      code: "invalid_arguments",
      message: "loopback_respond: skip goes with wait_secs only.",
    });
  });
});
