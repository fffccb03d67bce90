import { describe, expect, test } from "bun:test";
import { connectClient } from "../support/mcp-client.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { expectRefusal, namedToken } from "./callers.ts";

const mcp_servers = { tools: { command: "touch", args: ["started"] } };

describe("with --mcp-servers operator, a session that brings MCP servers", () => {
  test("is refused to a named token and its page, over REST and MCP, with the setting's name", async () => {
    await using place = await openPlace("operator");
    const ann = await namedToken(place.plexus, "ann");
    const page = await place.plexus.app.tokens.createForWeb(ann.principal);
    for (const token of [ann.token, page.token]) {
      const refusal = await place.create(token, { mcp_servers });
      expect(await expectRefusal(refusal, 403, "forbidden")).toContain("--mcp-servers operator");
    }
    await using client = await connectClient(place.plexus.url, ann.token);
    const asked = { name: "equipped", working_dir: place.work, mcp_servers };
    const { value, isError } = await client.call("claudecode_create", asked);
    expect({ isError, code: value["code"] }).toEqual({ isError: true, code: "forbidden" });
    expect(place.plexus.app.sessionView.list({ kind: "operator" }, { limit: 10 }).sessions).toEqual([]);
  });

  test("is the operator's to make, on a page too; a named token makes others", async () => {
    await using place = await openPlace("operator");
    const ann = await namedToken(place.plexus, "ann");
    const page = await place.plexus.app.tokens.createForWeb({ kind: "operator" });
    expect((await place.create(OPERATOR_TOKEN, { mcp_servers })).status).toBe(201);
    expect((await place.create(page.token, { mcp_servers, supervision: "strict" })).status).toBe(201);
    expect((await place.create(ann.token, {})).status).toBe(201);
    expect((await place.create(ann.token, { mcp_servers: {} })).status).toBe(201);
  });

  test("that a named token had made before, and a fork of it, start no turn", async () => {
    await using data = await temporaryDirectory();
    await using work = await temporaryDirectory();
    const token = await (async () => {
      await using before = await openPlace("anyone", data.path);
      const ann = await namedToken(before.plexus, "ann");
      expect((await before.create(ann.token, { name: "early", working_dir: work.path, mcp_servers })).status).toBe(201);
      return ann.token;
    })();
    await using place = await openPlace("operator", data.path);
    const body = JSON.stringify({ new_name: "forked" });
    expect((await place.plexus.fetch("/api/v1/sessions/early/fork", { method: "POST", body, token })).status).toBe(201);
    for (const name of ["early", "forked"]) {
      const chat = { method: "POST", body: JSON.stringify({ prompt: "go" }), token };
      const refusal = await place.plexus.fetch(`/api/v1/sessions/${name}/chat`, chat);
      expect(await expectRefusal(refusal, 403, "forbidden")).toContain("--mcp-servers operator");
    }
  });
});

test("by default anyone's session may bring MCP servers, but in strict only the operator's", async () => {
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
};

async function openPlace(mcpServers?: string, dataDir?: string): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const work = stack.use(await temporaryDirectory()).path;
  const plexus = stack.use(await startPlexus({ flags: { mcpServers }, ...(dataDir && { dataDir }) }));
  const owned = stack.move();
  return {
    plexus,
    work,
    create(token, asked) {
      const body = JSON.stringify({ name: crypto.randomUUID(), working_dir: work, ...asked });
      return plexus.fetch("/api/v1/sessions", { method: "POST", token, body });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
