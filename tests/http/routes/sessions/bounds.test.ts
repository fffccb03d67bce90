import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { newConfig, newSession } from "../../../storage/rows.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";
import { addSessions } from "../../../storage/sqlite/support/sqlite-rows.ts";
import { permitMessage } from "../../../support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../support/temporary.ts";
import { expectRefusal, namedToken } from "../../support/callers.ts";

setDefaultTimeout(60_000);

const MB = 1024 * 1024;
const words = (chars: number) => Array.from({ length: 1_000 }, () => "x".repeat(chars));

describe("the settings of a new session", () => {
  test.each([
    ["metadata", { x: "a".repeat(30 * MB) }, "metadata is 31457288 characters of JSON; at most 64000 are kept"],
    ["mcp_servers", { x: { args: words(100) } }, "mcp_servers is 103016 characters of JSON; at most 64000 are kept"],
    ["system_prompt", "x".repeat(100_001), "system_prompt must have at most 100000 characters, got 100001"],
    ["allowed_tools", words(1_001), "allowed_tools[0] must have at most 1000 characters, got 1001"],
    ["allowed_tools", [...words(1), "x"], "allowed_tools must be a list of at most 1000 strings, got a list of 1001"],
    ["allowed_tools", words(270), "bytes of JSON, and at most 262144 are kept"],
    ["disallowed_tools", words(270), "bytes of JSON, and at most 262144 are kept"],
  ])("are refused where %s is too large, over REST and MCP", async (field, value, message) => {
    await using place = await openPlace();
    const asked = { name: "big", [field]: value };
    const refused = await expectRefusal(await place.create(asked), 422, "invalid_arguments");
    expect(refused).toContain(message);
    const parent = await place.plexus.connect();
    const told = await parent.call("claudecode_create", { working_dir: place.work, ...asked });
    expect(told).toMatchObject({ isError: true, value: { code: "invalid_arguments" } });
    expect(told.text).toContain(message);
  });

  test("are limited in total, counted in bytes", async () => {
    await using place = await openPlace();
    const wide = { metadata: { x: "€".repeat(60_000) } };
    expect((await place.create({ name: "wide", ...wide })).status).toBe(201);
    const refused = await expectRefusal(
      await place.create({ name: "wider", ...wide, allowed_tools: words(100) }),
      422,
      "invalid_arguments",
    );
    expect(refused).toContain("bytes of JSON, and at most 262144 are kept");
  });

  test("are accepted right below the limit", async () => {
    await using place = await openPlace();
    const metadata = { x: "a".repeat(64_000 - '{"x":""}'.length) };
    const system_prompt = "x".repeat(100_000);
    expect((await place.create({ name: "large", metadata, system_prompt, allowed_tools: words(70) })).status).toBe(201);
  });
});

describe("an owner", () => {
  test("may keep 64 MB of settings, forks included, until some are deleted", async () => {
    await using place = await openPlace();
    const { token } = await namedToken(place.plexus, "ann");
    const fork = (name: string) => place.request("POST", "/big/fork", { new_name: name }, token);
    expect((await place.create({ name: "big", allowed_tools: words(250) }, token)).status).toBe(201);
    let forks = 0;
    let last = await fork("f0");
    while (last.status === 201 && forks < 300) last = await fork(`f${++forks}`);
    expect(await expectRefusal(last, 429, "limit_reached")).toContain("delete some (DELETE /api/v1/sessions/KEY)");
    expect(forks).toBeGreaterThan(250);
    expect(forks).toBeLessThan(270);
    const create = () => place.create({ name: "another", allowed_tools: words(250) }, token);
    await expectRefusal(await create(), 429, "limit_reached");
    await expectRefusal(await place.create({ name: "f1" }, token), 409, "name_taken");
    expect((await place.create({ name: "another", allowed_tools: words(250) })).status).toBe(201);
    expect((await place.request("DELETE", "/f1", undefined, token)).status).toBe(200);
    expect((await create()).status).toBe(201);
  });

  test("may keep 10,000 sessions, those of a claude started by hand included", async () => {
    await using place = await openPlace({ flags: { auth: "none" } });
    addSessions(place.plexus.dataDir, 9_999);
    const permit = async (session: string) => {
      const init = { method: "POST", token: null, body: JSON.stringify(permitMessage({ command: "ls" })) };
      const response = await place.plexus.fetch(`/mcp?session_id=${session}`, init);
      const reader = response.body?.getReader();
      let text = "";
      while (!/limit_reached|notifications\/progress/.test(text)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) break;
        text += new TextDecoder().decode(value);
      }
      await reader?.cancel();
      return text;
    };
    expect(await permit("last")).toContain("notifications/progress");
    expect(await permit("more")).toContain("You have 10000 sessions, and 10000 is the limit");
    expect(await permit("last")).toContain("notifications/progress");
    await expectRefusal(await place.create({ name: "more" }), 429, "limit_reached");
    const parent = await place.plexus.connect(null);
    expect((await parent.call("loopback_configure")).value).toMatchObject({ code: "limit_reached" });
    expect((await parent.call("claudecode_delete", { name: "s-1" })).value).toMatchObject({ type: "deleted" });
    expect((await parent.call("loopback_configure")).value).toMatchObject({ type: "ok" });
    expect((await parent.call("loopback_configure")).value).toMatchObject({ code: "limit_reached" });
  });
});

describe("sessions of an earlier version, with many megabytes of settings each,", () => {
  test("are listed a few at a time, and can still be read, forked and deleted", async () => {
    await using data = await temporaryDirectory();
    const names = Array.from({ length: 5 }, (_, number) => `old-${number}`);
    {
      using direct = openDirect(data.path);
      const config = newConfig({ metadata: { x: "a".repeat(12 * MB) } });
      for (const name of names) direct.sessions.create(newSession({ name, config, kind: "managed" }));
    }
    await using place = await openPlace({ dataDir: data.path });
    expect((await place.create({ name: "new" })).status).toBe(201);
    const pages = await place.pages();
    expect(pages).toEqual([["new", "old-4", "old-3"], ["old-2", "old-1"], ["old-0"]]);
    const parent = await place.plexus.connect();
    const { value } = await parent.call("claudecode_list");
    expect(value).toMatchObject({ has_more: true, sessions: [{ name: "new" }, { working_dir: "/srv/project" }, {}] });
    const read = await (await place.request("GET", "/old-0")).text();
    expect(read.length).toBeGreaterThan(12 * MB);
    // The five sessions already have 60 MB.
    await expectRefusal(await place.request("POST", "/old-0/fork", { new_name: "copy" }), 429, "limit_reached");
    expect((await place.request("DELETE", "/old-1")).status).toBe(200);
    expect((await place.request("POST", "/old-0/fork", { new_name: "copy" })).status).toBe(201);
  });
});

type Place = AsyncDisposable & {
  plexus: Plexus;
  work: string;
  request(method: string, path: string, body?: object, token?: string): Promise<Response>;
  create(asked: object, token?: string): Promise<Response>;
  /** The session names on each page of the list. */
  pages(): Promise<string[][]>;
};

async function openPlace(options: Parameters<typeof startPlexus>[0] = {}): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const work: TemporaryDirectory = stack.use(await temporaryDirectory());
  const plexus = stack.use(await startPlexus(options));
  const request: Place["request"] = (method, path, body, token) =>
    plexus.fetch(`/api/v1/sessions${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      ...(token && { token }),
    });
  const owned = stack.move();
  return {
    plexus,
    work: work.path,
    request,
    create: (asked, token) => request("POST", "", { working_dir: work.path, ...asked }, token),
    async pages() {
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const { sessions, cursor: next } = await plexus.app.sessionViews.list(
          { kind: "operator" },
          { limit: 100, ...(cursor !== null && { cursor }) },
        );
        pages.push(sessions.map(({ name }) => name));
        cursor = next;
      } while (cursor !== null);
      return pages;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
