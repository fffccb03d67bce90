import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { signIn as redeemCode } from "../../../src/contract/routes/sign-in.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

/** The server's status for the code in this address. */
async function signIn(address: string): Promise<number> {
  const [url, code] = address.trim().split("/#code=");
  expect(url).toBe(place.server.url);
  const headers = { "Content-Type": "application/json" };
  return (await fetch(`${url}${redeemCode.path}`, { method: "POST", headers, body: JSON.stringify({ code }) })).status;
}

/** A PATH with an xdg-open that records its argument and ends with this exit code. */
async function pathWithBrowser(exitCode: number): Promise<{ PATH: string; opened: () => Promise<string> }> {
  const folder = join(place.scratch, crypto.randomUUID());
  const record = join(folder, "opened");
  await mkdir(folder);
  await writeFile(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s' "$*" > '${record}'\nexit ${exitCode}\n`);
  await chmod(join(folder, "xdg-open"), 0o755);
  return { PATH: [folder, process.env["PATH"]].join(delimiter), opened: () => readFile(record, "utf8") };
}

describe("plexus open", () => {
  test("prints an address that signs one page in, once", async () => {
    const { exitCode, stdout, stderr } = await place.plexus(["open", "--print"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toContain(place.token);
    expect([await signIn(stdout), await signIn(stdout)]).toEqual([200, 401]);
  });

  test("prints the address by which phones reach the page, where the operator has named one", async () => {
    await using plexus = await startPlexus({ flags: { publicUrl: "https://plexus.example.org" } });
    const env = { PLEXUS_URL: plexus.url, PLEXUS_TOKEN: OPERATOR_TOKEN };
    const { stdout } = await place.plexus(["open", "--print"], { env });
    expect(stdout).toMatch(/^https:\/\/plexus\.example\.org\/#code=[\w-]+\n$/);
  });

  test("prints it as JSON, with its end", async () => {
    const { url, expires_at } = JSON.parse((await place.plexus(["open", "--json"])).stdout);
    expect(await signIn(url)).toBe(200);
    expect(expires_at).toBeGreaterThan(Date.now() / 1000);
  });

  test.skipIf(process.platform !== "linux")(
    "hands it to the browser where there is a screen, and shows no code",
    async () => {
      const { PATH, opened } = await pathWithBrowser(0);
      const { exitCode, stdout, stderr } = await place.plexus(["open"], { env: { PATH, DISPLAY: ":0" } });
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
      expect(stderr).toBe(`Opened ${place.server.url} in the browser.\n`);
      expect(await signIn(await opened())).toBe(200);
    },
  );

  test.skipIf(process.platform !== "linux").each([
    ["there is no screen", 0, {}],
    ["the browser does not start", 3, { DISPLAY: ":0" }],
  ])("prints it when %s", async (_, browserExits, env) => {
    const { PATH } = await pathWithBrowser(browserExits);
    const { exitCode, stdout } = await place.plexus(["open"], { env: { PATH, ...env } });
    expect(exitCode).toBe(0);
    expect(await signIn(stdout)).toBe(200);
  });

  test("says so when no server runs", async () => {
    const { exitCode, stderr } = await place.plexus(["open", "--url", "http://127.0.0.1:9"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining("No Plexus is running") });
  });
});
