import { describe, expect, test } from "bun:test";
import { createApi } from "../../src/client/api.ts";
import { Refused } from "../../src/contract/refusals/refused.ts";
import { decideApproval, getApproval, listApprovals } from "../../src/contract/routes/approvals.ts";
import { createSession, getSession } from "../../src/contract/routes/sessions.ts";
import { OPERATOR_TOKEN, startPlexus } from "../support/server/plexus.ts";

const WORDS = {
  unreachable: (url: string) => `nobody at ${url}`,
  noPlexus: (url: string, status: number) => `${url} is no Plexus (${status})`,
  otherVersion: (url: string) => `${url} is another version`,
};

function apiOf(url: string, token?: string) {
  return createApi({ server: () => ({ url, token }), fetch, words: WORDS });
}

const EMPTY_LIST = { type: "ok", approvals: [], has_more: false, cursor: null };

/** A server that gives every request this answer and records it. */
function answering(answer: () => Response) {
  const seen: { method: string; path: string; body: string; authorization: string | null }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const authorization = request.headers.get("authorization");
      seen.push({ method: request.method, path: `${pathname}${search}`, body: await request.text(), authorization });
      return answer();
    },
  });
  return { url: server.url.origin, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function refusalOf(answer: Promise<unknown>): Promise<Refused> {
  const cause = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (cause instanceof Refused) return cause;
  throw new Error(`it was not refused, but ${cause}`);
}

describe("an API call", () => {
  test("fills the path, and sends query, body and token as the route declares them", async () => {
    await using server = answering(() => Response.json(EMPTY_LIST));
    const api = apiOf(server.url, "a-token");
    await api.call(listApprovals, { query: { status: "pending", limit: 5, tool_name: "a&b", cursor: undefined } });
    await refusalOf(api.call(decideApproval, { params: { id: "a/b" }, body: { approve: true } }));
    expect(server.seen).toEqual([
      {
        method: "GET",
        path: "/api/v1/approvals?status=pending&limit=5&tool_name=a%26b",
        body: "",
        authorization: "Bearer a-token",
      },
      {
        method: "POST",
        path: "/api/v1/approvals/a%2Fb/respond",
        body: '{"approve":true}',
        authorization: "Bearer a-token",
      },
    ]);
  });

  test("returns the answer of a real server, with any declared status", async () => {
    await using plexus = await startPlexus();
    const api = apiOf(plexus.url, OPERATOR_TOKEN);
    const created = await api.call(createSession, { body: { name: "made by a client" } });
    const { config } = await api.call(getSession, { params: { key: created.id } });
    expect(config).toMatchObject({ id: created.id, name: "made by a client", status: "idle" });
  });

  test("throws the server's refusal, with its status, code and message", async () => {
    await using plexus = await startPlexus();
    const call = (token: string) => apiOf(plexus.url, token).call(getApproval, { params: { id: "nothing" } });
    expect(await refusalOf(call(OPERATOR_TOKEN))).toMatchObject({ status: 404, code: "not_found" });
    expect(await refusalOf(call("wrong"))).toMatchObject({ status: 401, code: "unauthorized" });
  });

  test.each([
    [
      "a refusal with a code that is not known here",
      () => Response.json({ error: { code: "new", message: "no" } }, { status: 409 }),
      { status: 409, code: "new", message: "no" },
    ],
    [
      "a refusal of something else",
      () => new Response("<html>", { status: 502 }),
      { status: 502, code: undefined, message: expect.stringMatching(/is no Plexus \(502\)$/) },
    ],
    [
      "an answer that is not declared",
      () => Response.json({ ...EMPTY_LIST, approvals: [{ id: 7 }] }),
      { code: undefined, message: expect.stringMatching(/is another version$/) },
    ],
    [
      "a status that is not declared",
      () => Response.json(EMPTY_LIST, { status: 202 }),
      { status: 202, message: expect.stringMatching(/is another version$/) },
    ],
  ])("throws one Refused for %s", async (_, answer, expected) => {
    await using server = answering(answer);
    expect(await refusalOf(apiOf(server.url).call(listApprovals))).toMatchObject(expected);
  });

  test("throws the code unreachable if nobody answers", async () => {
    const server = answering(() => new Response());
    await server[Symbol.asyncDispose]();
    const refusal = await refusalOf(apiOf(server.url).call(listApprovals));
    expect(refusal).toMatchObject({ status: 0, code: "unreachable", message: `nobody at ${server.url}` });
  });
});
