import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plexusBinary } from "../support/server/binary.ts";
import { type ServerProcess, startServerProcess } from "../support/server/server-process.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const HOSTILE_TOKEN = "a-token-from-a-hostile-env-file";
const DOTENV = [".env", ".env.local", ".env.production", ".env.development"];

describe("the binary, in an empty home and a directory with a hostile bunfig.toml and .env", () => {
  test("answers /healthz", () =>
    amongHostileFiles(async ({ server }) => {
      expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: "ok" });
    }));

  test("contains the web page", () =>
    amongHostileFiles(async ({ server }) => {
      const html = await (await fetch(server.url)).text();
      const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
      expect(files).toHaveLength(5);
      for (const path of files) expect((await fetch(`${server.url}${path}`)).status).toBe(200);
    }));

  test("runs no preload", () =>
    amongHostileFiles(async ({ preloadTrace }) => {
      expect(existsSync(preloadTrace)).toBe(false);
    }));

  test("requires a token, and accepts only the one that it created", () =>
    amongHostileFiles(async ({ server, dataDir }) => {
      expect(await statusOf(server.url)).toBe(401);
      expect(await statusOf(server.url, HOSTILE_TOKEN)).toBe(401);
      const token = await readFile(join(dataDir, "operator-token"), "utf8");
      expect(await statusOf(server.url, token.trim())).toBe(200);
    }));

  test("keeps its data in the home directory, readable only by its user", () =>
    amongHostileFiles(async ({ dataDir, hostileDataDir }) => {
      expect(existsSync(hostileDataDir)).toBe(false);
      expect(modeOf(dataDir)).toBe("700");
      expect(modeOf(join(dataDir, "plexus.db"))).toBe("600");
      expect(modeOf(join(dataDir, "operator-token"))).toBe("600");
    }));

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("exits 0 on %s", (name) =>
    amongHostileFiles(async ({ server }) => {
      expect(await server.stop(name)).toBe(0);
    }),
  );
});

type Place = { server: ServerProcess; dataDir: string; preloadTrace: string; hostileDataDir: string };

async function amongHostileFiles(body: (place: Place) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  const inside = (...names: string[]) => join(directory.path, ...names);
  const preloadTrace = inside("preload-ran");
  const hostileDataDir = inside("hostile-data");
  await mkdir(inside("home"));
  await mkdir(inside("cwd"));
  await writeFile(inside("cwd", "bunfig.toml"), 'preload = ["./preload.ts"]\n');
  await writeFile(inside("cwd", "preload.ts"), `await Bun.write(${JSON.stringify(preloadTrace)}, "");`);
  for (const name of DOTENV) await writeFile(inside("cwd", name), dotenv(hostileDataDir));

  const program = [await plexusBinary()];
  await using server = await startServerProcess({ program, cwd: inside("cwd"), home: inside("home") });
  await body({ server, dataDir: inside("home", ".local/state/plexus"), preloadTrace, hostileDataDir });
}

function dotenv(dataDir: string): string {
  const settings = { AUTH: "none", TOKEN: HOSTILE_TOKEN, DATA_DIR: dataDir, PORT: "1" };
  return Object.entries(settings)
    .map(([name, value]) => `PLEXUS_${name}=${value}\n`)
    .join("");
}

async function statusOf(url: string, token?: string): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v1/approvals`, { headers })).status;
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
