import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

const NO_APPROVALS = { type: "ok", approvals: [], has_more: false, cursor: null };

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

/** A server that records its callers and gives a fixed answer. */
function listener(answer: () => Response) {
  const seen: (string | null)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return answer();
    },
  });
  return { url: server.url.origin, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("a command that talks to the server", () => {
  test("finds it by --url or PLEXUS_URL too, a path and a last slash included", async () => {
    for (const [args, env] of [
      [["--url", `${place.server.url}/`], {}],
      [[], { PLEXUS_URL: place.server.url }],
    ] as const) {
      expect(await place.plexus(["pending", ...args], { env })).toMatchObject({ exitCode: 0 });
    }
    await using behindProxy = listener(() => Response.json(NO_APPROVALS));
    expect(await place.plexus(["pending", "--url", `${behindProxy.url}/plexus/`])).toMatchObject({ exitCode: 0 });
  });

  test("never hands the token to a proxy on the way to this machine", async () => {
    await using proxy = listener(() => Response.json(NO_APPROVALS));
    const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url };
    expect(await place.plexus(["pending"], { env })).toMatchObject({ exitCode: 0 });
    expect(await place.plexus(["call", "loopback_pending"], { env })).toMatchObject({ exitCode: 0 });
    expect(proxy.seen).toEqual([]);
  });

  test("never hands the stored token to another machine", async () => {
    const { exitCode, stderr } = await place.plexus(["pending", "--url", "http://plexus.invalid:4445"]);
    expect(stderr).toMatch(/^plexus: Set PLEXUS_TOKEN to a token of http:\/\/plexus\.invalid:4445: [^\n]*\n$/);
    expect(exitCode).toBe(1);
  });

  test("never follows a redirect", async () => {
    await using target = listener(() => Response.json(NO_APPROVALS));
    await using server = listener(() => Response.redirect(target.url));
    const { exitCode, stderr } = await place.plexus(["pending", "--url", server.url]);
    expect(stderr).toMatch(/^plexus: \S+ does not answer like Plexus \(HTTP 302\)\.\n$/);
    expect(exitCode).toBe(1);
    expect(target.seen).toEqual([]);
  });

  test("calls no one when the server that wrote server.json was killed, because another process may have its port", async () => {
    await using directory = await temporaryDirectory();
    await using successor = listener(() => Response.json(NO_APPROVALS));
    await using killed = await openPlace();
    await killed.server.kill();
    const stale = { pid: killed.server.pid, url: successor.url, operator_token: "stored" };
    await writeFile(join(directory.path, "server.json"), JSON.stringify(stale));
    await writeFile(join(directory.path, "operator-token"), "a-token-to-keep-secret\n");
    const { exitCode, stderr } = await plexus(["pending", "--data-dir", directory.path]);
    expect(stderr).toBe(`plexus: No Plexus is running at ${successor.url}: start it with \`plexus serve\`.\n`);
    expect(exitCode).toBe(3);
    expect(successor.seen).toEqual([]);
  });

  test.each([
    ["nonsense", () => new Response("<html>")],
    ["another shape", () => Response.json({ ...NO_APPROVALS, approvals: [{ id: 7 }] })],
  ])("says that it does not understand %s", async (_, answer) => {
    await using server = listener(answer);
    const { exitCode, stdout, stderr } = await place.plexus(["pending", "--url", server.url]);
    expect(stderr).toMatch(/^plexus: \S+ answered what Plexus \S+ does not understand: [^\n]*\n$/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });

  test("shows a server's refusal on one line, whatever is in it", async () => {
    const message = "no\u001b[31m\r\nplexus: Allowed it.";
    await using server = listener(() => Response.json({ error: { code: "forbidden", message } }, { status: 403 }));
    const { stderr } = await place.plexus(["pending", "--url", server.url]);
    expect(stderr).toBe("plexus: no\\u{1b}[31m\\u{d}\\nplexus: Allowed it.\n");
  });

  test("needs no token where the server asks for none", async () => {
    await using open = await openPlace({ args: ["--auth", "none"], token: "a-token-that-is-in-the-environment" });
    expect(await open.plexus(["pending"])).toMatchObject({ exitCode: 0 });
  });
});
