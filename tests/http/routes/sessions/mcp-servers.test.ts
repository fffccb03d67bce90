import { describe, expect, test } from "bun:test";
import { OneSession } from "../../../../src/contract/routes/sessions.ts";
import { SessionForked } from "../../../../src/contract/sessions/answers.ts";
import { writeStandIn } from "../../../support/claude/stand-in.ts";
import { connectClient } from "../../../support/mcp/mcp-client.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { expectRefusal, namedToken } from "../../support/callers.ts";

const mcp_servers = { tools: { command: "touch", args: ["started"] } };

describe("with --mcp-servers operator, a session that brings MCP servers", () => {
  test("is refused for a named token and its page, over REST and MCP, naming the setting", async () => {
    await using place = await openPlace("operator");
    const ann = await namedToken(place.plexus, "ann");
    const { code } = await place.plexus.app.signIn.newCode(ann.principal);
    const page = await place.plexus.app.signIn.redeem(code);
    for (const token of [ann.token, page?.token ?? ""]) {
      const refusal = await place.create(token, { mcp_servers });
      expect(await expectRefusal(refusal, 403, "forbidden")).toContain("--mcp-servers operator");
    }
    await using client = await connectClient(place.plexus.url, ann.token);
    const asked = { name: "equipped", working_dir: place.work, mcp_servers };
    const { value, isError } = await client.call("claudecode_create", asked);
    expect({ isError, code: value["code"] }).toEqual({ isError: true, code: "forbidden" });
    expect((await place.plexus.app.sessionViews.list({ kind: "operator" }, { limit: 10 })).sessions).toEqual([]);
  });

  test("can be created by the operator, on a page too; a named token can create sessions without them", async () => {
    await using place = await openPlace("operator");
    const ann = await namedToken(place.plexus, "ann");
    const { code } = await place.plexus.app.signIn.newCode({ kind: "operator" });
    const page = await place.plexus.app.signIn.redeem(code);
    expect((await place.create(OPERATOR_TOKEN, { mcp_servers })).status).toBe(201);
    expect((await place.create(page?.token ?? "", { mcp_servers, supervision: "strict" })).status).toBe(201);
    expect((await place.create(ann.token, {})).status).toBe(201);
    expect((await place.create(ann.token, { mcp_servers: {} })).status).toBe(201);
  });

  test("that a named token had created before starts no turn, and neither do its forks, even for the operator", async () => {
    await using data = await temporaryDirectory();
    await using work = await temporaryDirectory();
    const token = await (async () => {
      await using before = await openPlace("anyone", data.path);
      const ann = await namedToken(before.plexus, "ann");
      expect((await before.create(ann.token, { name: "early", working_dir: work.path, mcp_servers })).status).toBe(201);
      return ann.token;
    })();
    await using place = await openPlace("operator", data.path);
    const early = await place.idOf(token, "early");
    const hers = await place.fork(token, early);
    const operators = await place.fork(OPERATOR_TOKEN, early);
    const again = await place.fork(OPERATOR_TOKEN, operators);
    for (const [caller, id] of [
      [token, early],
      [token, hers],
      [OPERATOR_TOKEN, early],
      [OPERATOR_TOKEN, operators],
      [OPERATOR_TOKEN, again],
    ] as const) {
      const chat = { method: "POST", body: JSON.stringify({ prompt: "go" }), token: caller };
      const refusal = await place.plexus.fetch(`/api/v1/sessions/${id}/chat`, chat);
      expect(await expectRefusal(refusal, 403, "forbidden")).toContain("--mcp-servers operator");
    }
  });

  test("of the operator starts turns, and so do its forks and the forks of a session without any", async () => {
    await using place = await openPlace("operator");
    const ann = await namedToken(place.plexus, "ann");
    await place.create(OPERATOR_TOKEN, { name: "own", mcp_servers });
    await place.create(ann.token, { name: "bare" });
    for (const id of [await place.idOf(OPERATOR_TOKEN, "own"), await place.idOf(ann.token, "bare")]) {
      const fork = await place.fork(OPERATOR_TOKEN, id);
      const chat = { method: "POST", body: JSON.stringify({ prompt: "go" }) };
      expect((await place.plexus.fetch(`/api/v1/sessions/${fork}/chat`, chat)).status).toBe(202);
    }
  });
});

test("by default any session may bring MCP servers; in strict only the operator's", async () => {
  await using place = await openPlace();
  const ann = await namedToken(place.plexus, "ann");
  expect((await place.create(ann.token, { mcp_servers })).status).toBe(201);
  expect((await place.create(ann.token, { supervision: "strict" })).status).toBe(201);
  const refusal = await place.create(ann.token, { mcp_servers, supervision: "strict" });
  expect(await expectRefusal(refusal, 403, "forbidden")).toContain("in strict");
  expect((await place.create(OPERATOR_TOKEN, { mcp_servers, supervision: "strict" })).status).toBe(201);
});

type Place = AsyncDisposable & {
  plexus: Plexus;
  work: string;
  create(token: string, asked: object): Promise<Response>;
  idOf(token: string, name: string): Promise<string>;
  /** Returns the fork's id. */
  fork(token: string, id: string): Promise<string>;
};

async function openPlace(mcpServers?: string, dataDir?: string): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const work = stack.use(await temporaryDirectory()).path;
  const claude = writeStandIn(work, "read -r prompt");
  const plexus = stack.use(await startPlexus({ flags: { mcpServers, claude }, ...(dataDir && { dataDir }) }));
  const owned = stack.move();
  return {
    plexus,
    work,
    create(token, asked) {
      const body = JSON.stringify({ name: crypto.randomUUID(), working_dir: work, ...asked });
      return plexus.fetch("/api/v1/sessions", { method: "POST", token, body });
    },
    async idOf(token, name) {
      const response = await plexus.fetch(`/api/v1/sessions/${name}`, { token });
      return OneSession.parse(await response.json()).config.id;
    },
    async fork(token, id) {
      const body = JSON.stringify({ new_name: crypto.randomUUID() });
      const response = await plexus.fetch(`/api/v1/sessions/${id}/fork`, { method: "POST", token, body });
      expect(response.status).toBe(201);
      return SessionForked.parse(await response.json()).id;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
