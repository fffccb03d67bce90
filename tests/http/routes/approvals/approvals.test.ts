import { describe, expect, test } from "bun:test";
import type { z } from "zod";
import type { ApprovalStatus } from "../../../../src/contract/approvals/approval.ts";
import { RespondResult } from "../../../../src/contract/approvals/decision.ts";
import { ApprovalList, BatchAnswer, OneApproval } from "../../../../src/contract/routes/approvals.ts";
import { type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../../support/callers.ts";

const OPERATOR = { kind: "operator" } as const;

async function page(plexus: Plexus, query: string, token?: string): Promise<z.infer<typeof ApprovalList>> {
  const response = await plexus.fetch(`/api/v1/approvals?${query}`, token ? { token } : {});
  expect(response.status).toBe(200);
  return ApprovalList.parse(await response.json());
}

function respond(plexus: Plexus, id: string, decision: object, token?: string): Promise<Response> {
  return plexus.fetch(`/api/v1/approvals/${id}/respond`, {
    method: "POST",
    body: JSON.stringify(decision),
    ...(token && { token }),
  });
}

/** `count` requests of one session, in filing order. */
async function asks(plexus: Plexus, count: number, principal: Parameters<typeof sessionOf>[1] = OPERATOR) {
  const { session } = await sessionOf(plexus, principal);
  const filed = await Promise.all(Array.from({ length: count }, () => ask(plexus, session)));
  return { session, ids: filed.map((one) => one.approvalId) };
}

describe("GET /api/v1/approvals", () => {
  test("lists the newest first, a hundred by default", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 101);
    const first = await page(plexus, "");
    expect(first.approvals.map((approval) => approval.id)).toEqual(ids.toSorted().reverse().slice(0, 100));
    expect(first.has_more).toBe(true);
  });

  test("pages through 250 without a gap or a repeat while new ones arrive", async () => {
    await using plexus = await startPlexus();
    const { session, ids } = await asks(plexus, 250);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const next: z.infer<typeof ApprovalList> = await page(plexus, `limit=17${cursor && `&cursor=${cursor}`}`);
      seen.push(...next.approvals.map((approval) => approval.id));
      expect(next.has_more).toBe(next.cursor !== null);
      cursor = next.cursor;
      await Promise.all(Array.from({ length: 5 }, () => ask(plexus, session)));
    }
    expect(seen).toEqual(ids.toSorted().reverse());
  });

  test("marks the last page as such even if it is exactly full", async () => {
    await using plexus = await startPlexus();
    await asks(plexus, 20);
    const first = await page(plexus, "limit=10");
    expect(await page(plexus, `limit=10&cursor=${first.cursor}`)).toMatchObject({ has_more: false, cursor: null });
  });

  test("lists one status only", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 3);
    const [allowed = "", denied = "", pending = ""] = ids;
    await respond(plexus, allowed, { approve: true });
    await respond(plexus, denied, { approve: false });
    const expected: Record<ApprovalStatus, string[]> = {
      pending: [pending],
      allowed: [allowed],
      denied: [denied],
      timed_out: [],
      abandoned: [],
    };
    for (const [status, only] of Object.entries(expected)) {
      expect((await page(plexus, `status=${status}`)).approvals.map((approval) => approval.id)).toEqual(only);
    }
  });

  test("lists one session only", async () => {
    await using plexus = await startPlexus();
    const [one, other] = [await asks(plexus, 2), await asks(plexus, 3)];
    expect((await page(plexus, `session_id=${one.session.id}`)).approvals).toHaveLength(2);
    expect((await page(plexus, `session_id=${other.session.id}&status=pending`)).approvals).toHaveLength(3);
    expect((await page(plexus, "session_id=unknown")).approvals).toEqual([]);
  });

  test("shows a named token only its own approvals, and the operator all", async () => {
    await using plexus = await startPlexus();
    const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
    const hers = await asks(plexus, 2, ann.principal);
    const his = await asks(plexus, 1, bob.principal);
    const idsFor = async (query: string, token?: string) =>
      (await page(plexus, query, token)).approvals.map((approval) => approval.id).toSorted();
    expect(await idsFor("", ann.token)).toEqual(hers.ids.toSorted());
    expect(await idsFor("", bob.token)).toEqual(his.ids);
    expect(await idsFor(`session_id=${hers.session.id}`, bob.token)).toEqual([]);
    expect(await idsFor(`cursor=${hers.ids[1]}z`, bob.token)).not.toContain(hers.ids[0]);
    expect(await idsFor("")).toEqual([...hers.ids, ...his.ids].toSorted());
  });

  test.each([
    "status=maybe",
    "limit=0",
    "limit=1001",
    "limit=ten",
    "limit=",
    "limit=1.5",
    "limit=1&limit=2",
    "session_id=",
    `cursor=${"x".repeat(65)}`,
    "unknown=1",
    "__proto__=1",
  ])("refuses ?%s", async (query) => {
    await using plexus = await startPlexus();
    await expectRefusal(await plexus.fetch(`/api/v1/approvals?${query}`), 422, "invalid_arguments");
  });
});

describe("GET /api/v1/approvals/:id", () => {
  test("returns an approval in full, however large its input", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const input = { content: "x".repeat(1_000_000) };
    const { approvalId } = await ask(plexus, session, { input });
    const response = await plexus.fetch(`/api/v1/approvals/${approvalId}`);
    const { approval } = OneApproval.parse(await response.json());
    expect(approval.input).toEqual(input);
  });

  test("is not_found for an unknown id, and reads the same for somebody else's", async () => {
    await using plexus = await startPlexus();
    const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
    const { ids } = await asks(plexus, 1, ann.principal);
    const unknown = crypto.randomUUID();
    const others = await expectRefusal(
      await plexus.fetch(`/api/v1/approvals/${ids[0]}`, { token: bob.token }),
      404,
      "not_found",
    );
    const none = await expectRefusal(
      await plexus.fetch(`/api/v1/approvals/${unknown}`, { token: bob.token }),
      404,
      "not_found",
    );
    expect(others.replace(ids[0] ?? "", "")).toBe(none.replace(unknown, ""));
  });

  test.each(["%00", "%", "%E0%A4%A", "..", "a".repeat(5_000), "'%20OR%201=1", "__proto__", "💣"])(
    "is not_found for an id like %s",
    async (id) => {
      await using plexus = await startPlexus();
      await expectRefusal(await plexus.fetch(`/api/v1/approvals/${id}`), 404, "not_found");
    },
  );
});

describe("POST /api/v1/approvals/:id/respond", () => {
  test("decides, and the child gets the decision", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const asked = await ask(plexus, session);
    const response = await respond(plexus, asked.approvalId, { approve: false, message: "Not here.", interrupt: true });
    expect([response.status, await response.json()]).toEqual([
      200,
      { type: "ok", approval_id: asked.approvalId, status: "denied" },
    ]);
    expect(await asked.answer()).toEqual({ behavior: "deny", message: "Not here.", interrupt: true });
  });

  test("answers 200 with the tool's own object if it was already decided", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    await respond(plexus, ids[0] ?? "", { approve: true });
    const response = await respond(plexus, ids[0] ?? "", { approve: false });
    expect(response.status).toBe(200);
    const parent = await plexus.connect();
    const { value } = await parent.call("loopback_respond", { approval_id: ids[0], approve: false });
    const { next, cursor, ...told } = value;
    expect([typeof next, typeof cursor]).toEqual(["string", "number"]);
    expect(await response.json()).toEqual(told);
    expect(told).toMatchObject({ type: "already_resolved", status: "allowed", resolved_by: "operator" });
  });

  test("accepts exactly one of a hundred simultaneous decisions, and names it in the other answers", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const response = await respond(plexus, ids[0] ?? "", { approve: index % 2 === 0 });
        return RespondResult.parse(await response.json());
      }),
    );
    const winners = answers.filter((answer) => answer.type === "ok");
    expect(winners).toHaveLength(1);
    expect(answers.filter((answer) => answer.status !== winners[0]?.status)).toEqual([]);
  });

  test("is not_found for an unknown id, with the same text for another owner's, and decides nothing", async () => {
    await using plexus = await startPlexus();
    const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
    const { ids } = await asks(plexus, 1, ann.principal);
    const [hers = ""] = ids;
    const unknown = crypto.randomUUID();
    const others = await expectRefusal(await respond(plexus, hers, { approve: true }, bob.token), 404, "not_found");
    const none = await expectRefusal(await respond(plexus, unknown, { approve: true }, bob.token), 404, "not_found");
    expect(others.replace(hers, "")).toBe(none.replace(unknown, ""));
    expect((await plexus.app.approvals.get(OPERATOR, hers)).status).toBe("pending");
  });

  test("is not_found for another owner's decided approval too", async () => {
    await using plexus = await startPlexus();
    const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
    const { ids } = await asks(plexus, 1, ann.principal);
    await respond(plexus, ids[0] ?? "", { approve: true }, ann.token);
    await expectRefusal(await respond(plexus, ids[0] ?? "", { approve: true }, bob.token), 404, "not_found");
  });

  test("accepts null for every optional field", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const decision = { approve: true, message: null, updated_input: null, interrupt: null };
    expect((await respond(plexus, ids[0] ?? "", decision)).status).toBe(200);
  });

  test.each([
    ["no decision", {}],
    ["a decision that is text", { approve: "true" }],
    ["a decision that is a number", { approve: 1 }],
    ["no decision but a null", { approve: null }],
    ["an unknown field", { approve: true, aprove: false }],
    ["an empty updated_input", { approve: true, updated_input: {} }],
    ["an updated_input that is a list", { approve: true, updated_input: [1] }],
    ["an updated_input with a denial", { approve: false, updated_input: { command: "ls" } }],
    ["an updated_input larger than the CLI takes", { approve: true, updated_input: { command: "x".repeat(60_000) } }],
    ["an interrupt with an approval", { approve: true, interrupt: true }],
    ["a message of a megabyte", { approve: false, message: "x".repeat(1_000_000) }],
    ["a list", [{ approve: true }]],
    ["a text", "approve"],
    ["a null", null],
    ["a number", 1],
  ])("refuses %s with 422, and decides nothing", async (_, decision) => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const response = await plexus.fetch(`/api/v1/approvals/${ids[0]}/respond`, {
      method: "POST",
      body: JSON.stringify(decision),
    });
    await expectRefusal(response, 422, "invalid_arguments");
    expect((await plexus.app.approvals.get(OPERATOR, ids[0] ?? "")).status).toBe("pending");
  });

  test("refuses a field that is named __proto__", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const body = '{"approve":true,"__proto__":{"approve":true}}';
    const response = await plexus.fetch(`/api/v1/approvals/${ids[0]}/respond`, { method: "POST", body });
    await expectRefusal(response, 422, "invalid_arguments");
  });

  test("refuses a megabyte-long key with a short message", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const response = await respond(plexus, ids[0] ?? "", { approve: true, ["k".repeat(1_000_000)]: 1 });
    expect((await expectRefusal(response, 422, "invalid_arguments")).length).toBeLessThan(2_000);
  });

  test("passes updated_input on unchanged, unusual keys included, without null values", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const asked = await ask(plexus, session);
    const input = '{"__proto__":{"a":1},"constructor":2,"":"empty","é":"\\ud800","n":1e21}';
    await plexus.fetch(`/api/v1/approvals/${asked.approvalId}/respond`, {
      method: "POST",
      body: `{"approve":true,"updated_input":${input.replace("}", '},"toString":null,"command":null')}}`,
    });
    const answer = JSON.stringify(await asked.answer());
    expect(answer).toBe(`{"behavior":"allow","updatedInput":${JSON.stringify(JSON.parse(input))}}`);
  });
});

describe("POST /api/v1/approvals/respond", () => {
  const send = (plexus: Plexus, decisions: unknown, token?: string) =>
    plexus.fetch("/api/v1/approvals/respond", {
      method: "POST",
      body: JSON.stringify({ decisions }),
      ...(token && { token }),
    });

  test("decides each approval separately, and returns the results in the same order", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 3);
    const [first = "", second = "", third = ""] = ids;
    const response = await send(plexus, [
      { approval_id: first, approve: true, message: null },
      { approval_id: second, approve: true, updated_input: { other: 1 } },
      { approval_id: "none", approve: false },
      { approval_id: third, approve: true, updated_input: { other: 1 }, merge: true },
      { approval_id: third, approve: true, updated_input: { timeout: 1 }, merge: true },
      { approval_id: first, approve: false },
    ]);
    expect(response.status).toBe(200);
    expect(BatchAnswer.parse(await response.json()).results).toMatchObject([
      { type: "ok", approval_id: first, status: "allowed" },
      { type: "error", code: "invalid_arguments", approval_id: second },
      { type: "error", code: "not_found", approval_id: "none" },
      {
        type: "error",
        code: "invalid_arguments",
        message: expect.stringContaining('has "other", but Bash takes command'),
      },
      { type: "ok", approval_id: third, status: "allowed", added: ["timeout"] },
      { type: "already_resolved", approval_id: first, resolved_by: "operator" },
    ]);
    expect((await page(plexus, "status=pending")).approvals.map(({ id }) => id)).toEqual([second]);
  });

  test("refuses a stranger as not found, and a child as forbidden", async () => {
    await using plexus = await startPlexus();
    const { ids } = await asks(plexus, 1);
    const { token } = await namedToken(plexus, "stranger");
    const [id = ""] = ids;
    const answer = await (await send(plexus, [{ approval_id: id, approve: true }], token)).text();
    const unknown = await (await send(plexus, [{ approval_id: "x".repeat(36), approve: true }], token)).text();
    expect(answer.replaceAll(id, "")).toBe(unknown.replaceAll("x".repeat(36), ""));
    const child = await plexus.child();
    await expectRefusal(await send(plexus, [{ approval_id: id, approve: true }], child.token), 403, "forbidden");
  });

  test.each([[[]], [Array.from({ length: 101 }, () => ({ approval_id: "x", approve: true }))], ["all"], [[7]]])(
    "refuses what is no list of up to a hundred decisions (%#)",
    async (decisions) => {
      await using plexus = await startPlexus();
      await expectRefusal(await send(plexus, decisions), 422, "invalid_arguments");
    },
  );
});
