import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus } from "../support/command.ts";
import { openPlace } from "../support/place.ts";

setDefaultTimeout(60_000);

describe("plexus healthcheck", () => {
  test("finds the server by its data dir, its port or its URL, without a token", async () => {
    await using place = await openPlace({ token: "a-token-that-is-in-the-environment" });
    await using elsewhere = await temporaryDirectory();
    const { url } = place.server;
    const { port } = new URL(url);
    const dataDir = ["--data-dir", elsewhere.path];
    for (const [args, env] of [
      [["--data-dir", place.dataDir], {}],
      [["--port", port, ...dataDir], {}],
      [["--url", `${url}/`, ...dataDir], {}],
      [dataDir, { PLEXUS_PORT: port }],
      [dataDir, { PLEXUS_URL: url }],
    ] as const) {
      expect(await plexus(["healthcheck", ...args], { env })).toEqual({
        exitCode: 0,
        stdout: `Plexus is alive at ${url}\n`,
        stderr: "",
      });
    }
    const { stdout } = await place.plexus(["healthcheck", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ status: "ok", url });
  });

  test("finds a server that listens on all interfaces, as in a container", async () => {
    await using place = await openPlace({ args: ["--host", "0.0.0.0"] });
    const env = { PLEXUS_HOST: "0.0.0.0", PLEXUS_PORT: new URL(place.server.url).port };
    expect(await place.plexus(["healthcheck"], { env: { PLEXUS_HOST: "0.0.0.0" } })).toMatchObject({ exitCode: 0 });
    await rm(join(place.dataDir, "server.json"));
    expect(await place.plexus(["healthcheck"], { env })).toMatchObject({ exitCode: 0 });
  });

  test("fails in one line when the server was killed", async () => {
    await using place = await openPlace();
    await place.server.kill();
    const { exitCode, stdout, stderr } = await place.plexus(["healthcheck"]);
    expect(stderr).toBe(`plexus: No Plexus is running at ${place.server.url}: start it with \`plexus serve\`.\n`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });

  test.each([
    ["another program", () => new Response("hello")],
    ["an error", () => new Response("no", { status: 500 })],
    ["a redirect", () => Response.redirect("/elsewhere")],
  ])("is not content with %s on that port", async (_, fetch) => {
    await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
    const { exitCode, stderr } = await plexus(["healthcheck", "--port", String(server.port)]);
    expect(stderr).toMatch(/^plexus: \S+ does not answer like Plexus \(HTTP \d+\)\.\n$/);
    expect(exitCode).toBe(1);
  });

  test("does not wait for ever on a server that hangs", async () => {
    await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) });
    const { exitCode, stderr } = await plexus(["healthcheck", "--port", String(server.port)]);
    expect(stderr).toMatch(/^plexus: No answer from \S+: [^\n]*\n$/);
    expect(exitCode).toBe(1);
  });
});
